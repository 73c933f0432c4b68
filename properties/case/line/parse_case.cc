// SPDX-License-Identifier: Apache-2.0
// One rule per word: its key, the ops that have it, and a parser that stores its value or says what was expected. Rules
// about several words are checked afterwards, on the whole case.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {
namespace {

constexpr std::size_t kLongestLine = 160;  // fits into a record, a message and a terminal
constexpr std::size_t kLongestGoldenName = 64;
constexpr std::int64_t kLargestDimension = INT32_MAX;  // the largest size that every tested library supports

bool is_any(const OpTraits&) { return true; }
bool is_stacked(const OpTraits& op) { return op.is_stacked; }
bool has_peepholes(const OpTraits& op) { return !op.is_stacked; }
bool has_seq_len_max(const OpTraits& op) { return op.has_seq_len_max; }

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

bool parse_hexadecimal(std::string_view text, std::uint64_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return problem == std::errc() && end == text.data() + text.size() && !text.starts_with('-');
}

bool parse_count(std::string_view text, std::int64_t& number) {
  return parse_number(text, number) && number >= 0 && number <= kLargestDimension && !text.starts_with('-');
}

template <class Enumeration>
std::string parse_word(std::string_view value, std::string_view (*word_of)(std::int32_t), Enumeration& result) {
  const std::int32_t enumerator = enumerator_of(word_of, value);
  if (enumerator == 0) return "expected one of " + words_in(word_of);
  result = static_cast<Enumeration>(enumerator);
  return "";
}

std::string parse_peep(std::string_view value, Case& c) {
  if (value != "0" && value != "1") return "expected 0 or 1";
  c.use_peephole = value == "1";
  return "";
}

std::string parse_clip(std::string_view value, Case& c) {
  if (parse_number(value, c.cell_clip) && std::isfinite(c.cell_clip)) return "";
  return "expected a finite number; 0 or less means no clipping";
}

std::string parse_order(std::string_view value, Case& c) {
  const OpSpec& spec = *find_op(c.op);
  const std::string_view order = spec.traits.gates;
  return value == order ? "" : "the gates of " + std::string(spec.word) + " are in the order " + std::string(order);
}

std::string parse_seq(std::string_view value, Case& c) {
  if (parse_count(value, c.seq_len_max) && c.seq_len_max <= c.T) return "";
  return "expected a whole number from 0 to T = " + std::to_string(c.T);
}

std::string parse_mode(std::string_view value, Case& c) { return parse_word(value, rnn_mode_word, c.rnn_mode); }
std::string parse_direction(std::string_view value, Case& c) { return parse_word(value, direction_word, c.direction); }
std::string parse_input(std::string_view value, Case& c) { return parse_word(value, input_mode_word, c.input_mode); }

std::string parse_layers(std::string_view value, Case& c) {
  if (parse_count(value, c.layers) && c.layers >= 1) return "";
  return "expected a whole number from 1 to " + std::to_string(kLargestDimension);
}

std::string parse_dropout(std::string_view value, Case& c) {
  if (parse_number(value, c.dropout) && c.dropout >= 0 && c.dropout <= 1) return "";
  return "expected a probability in [0, 1]";
}

std::string parse_dtype(std::string_view value, Case& c) {
  const OpSpec& spec = *find_op(c.op);
  const std::int32_t dtype = enumerator_of(dtype_word, value);
  if (dtype == 0 || (spec.dtypes & BACKGAUGE_BIT(dtype)) == 0) {
    return std::string(spec.word) + " takes " + words_in(dtype_word, spec.dtypes);
  }
  c.dtype = static_cast<backgauge_dtype>(dtype);
  return "";
}

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

std::string parse_checksum(std::string_view value, Case& c) {
  std::uint64_t checksum = 0;
  if (value.size() != 4 || !parse_hexadecimal(value, checksum)) return "expected 4 hexadecimal digits";
  c.checksum = static_cast<std::uint16_t>(checksum);
  return "";
}

struct WordRule {
  std::string_view key;
  bool (*belongs_to)(const OpTraits&);
  bool required;
  std::string (*parse)(std::string_view value, Case& c);  // "" or what was expected
};
constexpr WordRule kRules[] = {
    {"peep", has_peepholes, false, parse_peep},   {"clip", has_peepholes, false, parse_clip},
    {"order", has_peepholes, false, parse_order}, {"seq", has_seq_len_max, false, parse_seq},
    {"mode", is_stacked, false, parse_mode},      {"dir", is_stacked, false, parse_direction},
    {"layers", is_stacked, false, parse_layers},  {"in", is_stacked, false, parse_input},
    {"drop", is_stacked, false, parse_dropout},   {"dt", is_any, true, parse_dtype},
    {"data", is_any, true, parse_data},           {"chk", is_any, false, parse_checksum}};

// "b3i5h7", with t in front for the ops that have steps. "" or what was expected.
std::string parse_dims(std::string_view word, Case& c) {
  struct Dimension {
    char letter;
    std::int64_t* value;
  };
  const std::array<Dimension, 4> all = {{{'t', &c.T}, {'b', &c.B}, {'i', &c.I}, {'h', &c.H}}};
  const OpSpec& spec = spec_of(c.op);
  const bool stepless = !spec.traits.has_steps;
  const std::string expected = std::string("expected dims like ") + (stepless ? "b3i5h7" : "t5b3i5h7") +
                               ", each from 0 to " + std::to_string(kLargestDimension);
  for (const auto& [letter, value] : std::span(all).subspan(stepless ? 1 : 0)) {
    const std::size_t end = word.find_first_not_of("0123456789", 1);
    if (!word.starts_with(letter) || !parse_count(word.substr(1, end == word.npos ? end : end - 1), *value)) {
      return expected;
    }
    word.remove_prefix(end == word.npos ? word.size() : end);
  }
  if (!word.empty()) return expected;
  if (c.H < 1) return "H must be at least 1";
  if (!spec.traits.may_have_no_steps && c.T < 1) return "T must be at least 1 for " + std::string(spec.word);
  c.seq_len_max = spec.traits.has_seq_len_max ? c.T : 1;
  return "";
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r\n");
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r\n"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string parse_option(std::string_view word, Case& c, std::vector<std::string_view>& seen) {
  const std::string_view key = word.substr(0, word.find('='));
  std::string keys;
  for (const WordRule& rule : kRules) {
    if (!rule.belongs_to(traits_of(c.op))) continue;
    keys.append(keys.empty() ? "" : ", ").append(rule.key);
    if (rule.key != key) continue;
    if (key.size() == word.size()) return "expected " + std::string(key) + "=<value>";
    for (const std::string_view earlier : seen) {
      if (earlier == key) return "given twice";
    }
    seen.push_back(key);
    return rule.parse(word.substr(key.size() + 1), c);
  }
  return std::string(find_op(c.op)->word) + " has no such setting; its settings are " + keys;
}

// Checks rules about several words. Returns "", or the word and what is wrong with it.
std::string check_whole(const Case& c, std::span<const std::string_view> seen) {
  for (const WordRule& rule : kRules) {
    if (rule.required && std::find(seen.begin(), seen.end(), rule.key) == seen.end()) {
      return std::string(rule.key) + ": missing";
    }
  }
  if (traits_of(c.op).is_stacked) {
    if (c.input_mode == BACKGAUGE_SKIP_INPUT && c.I != c.H) {
      return "in=skip: needs I = H, not I = " + std::to_string(c.I) + " and H = " + std::to_string(c.H);
    }
    // semantics.md section 8: the result of relu for NaN is not defined.
    if (c.rnn_mode == BACKGAUGE_RNN_RELU && (c.data == DataProfile::kNan || c.data == DataProfile::kInf)) {
      return "data=" + std::string(data_profile_word(c.data)) + ": not defined for mode=relu";
    }
  }
  Case canonical = c;
  canonical.checksum = c.checksum.value_or(0);
  const std::size_t size = to_string(canonical).size();
  if (size > kLongestLine) {
    return "line: its canonical form with chk has " + std::to_string(size) + " characters, at most " +
           std::to_string(kLongestLine) + " are allowed";
  }
  return "";
}

}  // namespace

std::optional<Case> parse_case(std::string_view line, std::string& error) {
  error.clear();
  const auto refuse = [&error](std::string_view word, const std::string& why) {
    error = std::string(word) + ": " + why;
    return std::nullopt;
  };
  if (line.size() > kLongestLine) {
    return refuse("line", "it has " + std::to_string(line.size()) + " characters, at most " +
                              std::to_string(kLongestLine) + " are allowed");
  }
  const std::vector<std::string_view> words = split(line);
  if (words.empty()) return refuse("line", "expected an op, dims and options; it is empty");

  Case c;
  const OpSpec* spec = find_op(words[0]);
  if (spec == nullptr || spec->traits.gradient) {
    std::string ops;
    for (const backgauge_op op : gradient_ops()) ops.append(ops.empty() ? "" : ", ").append(spec_of(op).word);
    return refuse(words[0], "expected one of " + ops);
  }
  c.op = spec->op;
  if (words.size() < 2) return refuse("dims", "missing after " + std::string(words[0]));
  if (const std::string why = parse_dims(words[1], c); !why.empty()) return refuse(words[1], why);

  std::vector<std::string_view> seen;
  for (const std::string_view word : std::span(words).subspan(2)) {
    if (const std::string why = parse_option(word, c, seen); !why.empty()) return refuse(word, why);
  }
  error = check_whole(c, seen);
  if (!error.empty()) return std::nullopt;
  return c;
}

}  // namespace backgauge
