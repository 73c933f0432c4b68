// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ranges.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "properties/case/line/case_attributes.h"

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

// Each case with each value, in this order; the cases as they are if there is no value.
template <class Value, class Set>
std::vector<Case> with_each(const std::vector<Case>& cases, const std::vector<Value>& values, Set set) {
  if (values.empty()) return cases;
  std::vector<Case> out;
  for (const Case& c : cases) {
    for (const Value value : values) set(out.emplace_back(c), value);
  }
  return out;
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
  auto product = static_cast<double>(std::max<std::size_t>(ranges.dtypes.size(), 1));
  for (const auto& [letter, sizes] : ranges.sizes)
    product *= static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
  return product;
}

std::vector<Case> expand(const Case& c, Ranges ranges) {
  const bool input_is_hidden = c.I == c.H && ranges.sizes['I'].empty();
  std::vector<Case> all = {c};
  for (const SizeSpec& size : spec_of(c.op).sizes()) {
    all = with_each(all, ranges.sizes[size.letter],
                    [&](Case& one, std::int64_t number) { one.*case_member(size) = number; });
  }
  all = with_each(all, ranges.dtypes, [](Case& one, backgauge_dtype dtype) { one.dtype = dtype; });
  std::vector<Case> out;
  for (Case& one : all) {
    if (c.seq_len_max == c.T) set_steps(one, one.T, one.T);
    if (input_is_hidden) one.I = one.H;
    if (!(one == c)) one.checksum.reset();
    std::string why;
    if (parse_case(to_string(one), why)) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace backgauge
