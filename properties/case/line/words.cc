// SPDX-License-Identifier: Apache-2.0
// The words of attributes are made from their rows in ops.inc. The others have a parser and a printer here.
#include "properties/case/line/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "properties/case/line/case_attributes.h"

namespace backgauge {
namespace {

constexpr std::size_t kLongestGoldenName = 64;

bool is_any(const OpTraits&) { return true; }
bool has_gates(const OpTraits& op) { return !op.gates.empty(); }

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

std::string shortest(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

bool parse_hexadecimal(std::string_view text, std::uint64_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return problem == std::errc() && end == text.data() + text.size() && !text.starts_with('-');
}

std::string hexadecimal(std::uint64_t value, std::size_t digits) {
  std::array<char, 16> text;
  const std::string_view shown(text.data(), std::to_chars(text.data(), text.data() + text.size(), value, 16).ptr);
  return std::string(digits > shown.size() ? digits - shown.size() : 0, '0').append(shown);
}

std::string parse_choice(const CaseAttribute& attribute, std::string_view value, Case& c) {
  const AttributeSpec& spec = *attribute.spec;
  const auto found = std::ranges::find(spec.values, value, spec.word);
  if (found != spec.values.end()) {
    attribute.set(c, *found);
    return "";
  }
  std::vector<std::int32_t> ascending = spec.values;
  std::ranges::sort(ascending);
  std::string words;
  for (const std::int32_t each : ascending) words.append(words.empty() ? "" : ", ").append(spec.word(each));
  return "expected one of " + words;
}

std::string parse_real(const CaseAttribute& attribute, std::string_view value, Case& c) {
  double number = 0;
  if (!parse_number(value, number) || !(number >= attribute.spec->least && number <= attribute.spec->greatest)) {
    return "expected " + attribute.spec->expected();
  }
  attribute.set(c, number);
  return "";
}

WordRule rule_of(const CaseAttribute& attribute) {
  const AttributeSpec& spec = *attribute.spec;
  const bool is_choice = spec.choice != nullptr;
  return {.key = spec.key,
          .belongs_to = spec.fact,
          .required = false,
          .parse =
              [&attribute, is_choice](std::string_view value, Case& c) {
                return is_choice ? parse_choice(attribute, value, c) : parse_real(attribute, value, c);
              },
          .print = [&attribute, &spec, is_choice](const Case& c) -> std::string {
            const double value = attribute.get(c);
            if (is_choice) return std::string(spec.word(static_cast<std::int32_t>(value)));
            return attribute.is_usual(c) ? "" : shortest(value);
          }};
}

std::string parse_clip(std::string_view value, Case& c) {
  if (parse_number(value, c.cell_clip) && std::isfinite(c.cell_clip)) return "";
  return "expected a finite number; 0 or less means no clipping";
}
std::string print_clip(const Case& c) { return c.cell_clip != 0 ? shortest(c.cell_clip) : ""; }

std::string parse_order(std::string_view value, Case& c) {
  const OpSpec& spec = spec_of(c.op);
  const std::string_view order = spec.traits.gates;
  return value == order ? "" : "the gates of " + std::string(spec.word) + " are in the order " + std::string(order);
}
// Only where the op for one step has another order, so that the two could be confused.
std::string print_order(const Case& c) { return traits_of(c.op).one_step ? std::string(traits_of(c.op).gates) : ""; }

std::string parse_seq(std::string_view value, Case& c) {
  if (parse_count(value, c.seq_len_max) && c.seq_len_max <= c.T) return "";
  return "expected a whole number from 0 to T = " + std::to_string(c.T);
}
std::string print_seq(const Case& c) { return std::to_string(c.seq_len_max); }

std::string parse_layers(std::string_view value, Case& c) {
  if (parse_count(value, c.layers) && c.layers >= 1) return "";
  return "expected a whole number from 1 to " + std::to_string(kLargestDimension);
}
std::string print_layers(const Case& c) { return std::to_string(c.layers); }

std::string parse_dtype(std::string_view value, Case& c) {
  const OpSpec& spec = spec_of(c.op);
  const std::int32_t dtype = enumerator_of(dtype_word, value);
  if (dtype == 0 || (spec.dtypes & BACKGAUGE_BIT(dtype)) == 0) {
    return std::string(spec.word) + " takes " + words_in(dtype_word, spec.dtypes);
  }
  c.dtype = static_cast<backgauge_dtype>(dtype);
  return "";
}
std::string print_dtype(const Case& c) { return std::string(dtype_word(c.dtype)); }

bool golden_name_is_legal(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !name.empty() && name.size() <= kLongestGoldenName && name.find_first_not_of(kLetters) == name.npos;
}

std::string parse_data(std::string_view value, Case& c) {
  const std::size_t colon = value.find(':');
  const std::string_view word = value.substr(0, colon);
  const std::string_view rest = colon == value.npos ? "" : value.substr(colon + 1);
  std::string words;
  for (const DataProfile data : kDataProfiles) {
    words.append(words.empty() ? "" : ", ").append(data_profile_word(data));
    if (data_profile_word(data) != word) continue;
    c.data = data;
    if (data == DataProfile::kGolden) {
      c.golden = rest;
      return golden_name_is_legal(rest) ? "" : "expected golden:<name>, of at most 64 letters, digits, _ and -";
    }
    const bool seeded = rest.starts_with("0x") && parse_hexadecimal(rest.substr(2), c.seed);
    return seeded ? "" : "expected " + std::string(word) + ":0x<seed of at most 16 hexadecimal digits>";
  }
  return "expected one of " + words;
}
std::string print_data(const Case& c) {
  const std::string word(data_profile_word(c.data));
  return c.data == DataProfile::kGolden ? word + ":" + c.golden : word + ":0x" + hexadecimal(c.seed, 1);
}

std::string parse_checksum(std::string_view value, Case& c) {
  std::uint64_t checksum = 0;
  if (value.size() != 4 || !parse_hexadecimal(value, checksum)) return "expected 4 hexadecimal digits";
  c.checksum = static_cast<std::uint16_t>(checksum);
  return "";
}
std::string print_checksum(const Case& c) { return c.checksum ? hexadecimal(*c.checksum, 4) : ""; }

// The words between those of attributes, each with the key of the attribute that it follows.
std::vector<std::pair<std::string_view, WordRule>> rules_between() {
  return {{"peep", {"clip", &OpTraits::takes_saved, false, parse_clip, print_clip}},
          {"peep", {"order", has_gates, false, parse_order, print_order}},
          {"peep", {"seq", &OpTraits::has_seq_len_max, false, parse_seq, print_seq}},
          {"dir", {"layers", &OpTraits::has_layers, false, parse_layers, print_layers}}};
}

std::vector<WordRule> make_rules() {
  std::vector<WordRule> rules;
  for (const CaseAttribute& attribute : case_attributes()) {
    rules.push_back(rule_of(attribute));
    for (const auto& [key, rule] : rules_between()) {
      if (key == attribute.spec->key) rules.push_back(rule);
    }
  }
  rules.push_back({"dt", is_any, true, parse_dtype, print_dtype});
  rules.push_back({"data", is_any, true, parse_data, print_data});
  rules.push_back({"chk", is_any, false, parse_checksum, print_checksum});
  return rules;
}

}  // namespace

bool parse_count(std::string_view text, std::int64_t& number) {
  return parse_number(text, number) && number >= 0 && number <= kLargestDimension && !text.starts_with('-');
}

const std::vector<WordRule>& word_rules() {
  static const std::vector<WordRule> rules = make_rules();
  return rules;
}

}  // namespace backgauge
