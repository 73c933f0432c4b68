// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ranges.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace backgauge {
namespace {

constexpr std::int64_t kLargest = INT32_MAX;   // as in case lines
constexpr std::size_t kMostNumbers = 100'000;  // more is a typing error

bool parse_number(std::string_view text, std::int64_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size() && number >= 0 && number <= kLargest;
}

// Removes and returns the text before the next `separator`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return word;
}

bool add_item(std::string_view item, std::vector<std::int64_t>& out) {
  const bool is_range = item.find(':') != item.npos;
  std::int64_t first = 0, last = 0, step = 1;
  if (!parse_number(take(item, ':'), first)) return false;
  if (!is_range) {
    out.push_back(first);
    return true;
  }
  if (!parse_number(take(item, ':'), last) || last < first) return false;
  const bool multiplies = item.starts_with('*');
  if (!item.empty() && !parse_number(item.substr(multiplies ? 1 : 0), step)) return false;
  if (step < (multiplies ? 2 : 1) || (multiplies && first == 0)) return false;
  for (std::int64_t number = first; number <= last; number = multiplies ? number * step : number + step) {
    if (out.size() == kMostNumbers) return false;
    out.push_back(number);
  }
  return true;
}

template <class Number>
std::vector<Number> or_own(const std::vector<Number>& range, Number own) {
  return range.empty() ? std::vector<Number>{own} : range;
}

}  // namespace

std::vector<std::int64_t> parse_numbers(const std::string& text, std::string& error) {
  error.clear();
  std::vector<std::int64_t> out;
  std::string_view rest = text;
  bool good = !text.empty() && text.back() != ',';
  while (good && !rest.empty()) good = add_item(take(rest, ','), out);
  if (good) return out;
  error = "expected numbers and ranges like 13, 1:8, 64:256:64 or 256:1024:*2";
  return {};
}

double combinations(const Ranges& ranges) {
  double product = 1;
  for (const std::size_t count :
       {ranges.T.size(), ranges.B.size(), ranges.I.size(), ranges.H.size(), ranges.dtypes.size()}) {
    product *= static_cast<double>(std::max<std::size_t>(count, 1));
  }
  return product;
}

std::vector<Case> expand(const Case& c, const Ranges& ranges) {
  const bool stepless = !traits_of(c.op).has_steps;
  const bool input_is_hidden = c.I == c.H && ranges.I.empty();
  std::vector<Case> out;
  for (const std::int64_t T : stepless ? std::vector{c.T} : or_own(ranges.T, c.T)) {
    for (const std::int64_t B : or_own(ranges.B, c.B)) {
      for (const std::int64_t I : or_own(ranges.I, c.I)) {
        for (const std::int64_t H : or_own(ranges.H, c.H)) {
          for (const backgauge_dtype dtype : or_own(ranges.dtypes, c.dtype)) {
            Case one = c;
            if (c.seq_len_max == c.T && !stepless) one.seq_len_max = T;
            one.T = T;
            one.B = B;
            one.I = input_is_hidden ? H : I;
            one.H = H;
            one.dtype = dtype;
            if (!(one == c)) one.checksum.reset();
            std::string why;
            if (parse_case(to_string(one), why)) out.push_back(one);
          }
        }
      }
    }
  }
  return out;
}

}  // namespace backgauge
