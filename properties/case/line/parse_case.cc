// SPDX-License-Identifier: Apache-2.0
// Each word is parsed by its rule. What concerns several words is checked afterwards, on the whole case.
#include <algorithm>
#include <span>
#include <vector>

#include "properties/case/line/case_attributes.h"
#include "properties/case/line/words.h"

namespace backgauge {
namespace {

constexpr std::size_t kLongestLine = 160;  // fits into a record, a message and a terminal

// "b3i5h7", with t in front for the ops that have steps. "" or what was expected.
std::string parse_dims(std::string_view word, Case& c) {
  const OpSpec& spec = spec_of(c.op);
  const SizeSpec& first = spec.sizes().front();
  constexpr std::string_view kExample = "t5b3i5h7";
  const std::string expected = "expected dims like " + std::string(kExample.substr(kExample.find(first.key))) +
                               ", each from 0 to " + std::to_string(kLargestDimension);
  for (const SizeSpec& size : spec.sizes()) {
    if (!size.is_dim()) continue;
    const std::size_t end = word.find_first_not_of("0123456789", 1);
    if (!word.starts_with(size.key) ||
        !parse_count(word.substr(1, end == word.npos ? end : end - 1), c.*case_member(size))) {
      return expected;
    }
    word.remove_prefix(end == word.npos ? word.size() : end);
  }
  if (!word.empty()) return expected;
  if (c.H < 1) return "H must be at least 1";
  if (c.T < spec.traits.least_steps) return "T must be at least 1 for " + std::string(spec.word);
  set_steps(c, c.T, c.T);
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
  for (const WordRule& rule : word_rules()) {
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
  for (const WordRule& rule : word_rules()) {
    if (rule.required && std::find(seen.begin(), seen.end(), rule.key) == seen.end()) {
      return std::string(rule.key) + ": missing";
    }
  }
  if (c.input_mode == BACKGAUGE_SKIP_INPUT && c.I != c.H) {
    return "in=skip: needs I = H, not I = " + std::to_string(c.I) + " and H = " + std::to_string(c.H);
  }
  // semantics.md section 8: the result of relu for NaN is not defined.
  if (c.rnn_mode == BACKGAUGE_RNN_RELU && (c.data == DataProfile::kNan || c.data == DataProfile::kInf)) {
    return "data=" + std::string(data_profile_word(c.data)) + ": not defined for mode=relu";
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
