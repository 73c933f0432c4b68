// SPDX-License-Identifier: Apache-2.0
#include "ci/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "ci/command.h"
#include "impl/registry.h"
#include "properties/saboteurs/variant.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {

std::vector<backgauge_op> parse_ops(const std::string& list) {
  std::vector<backgauge_op> out;
  std::vector<std::string_view> legal;
  for (const OpSpec& spec : op_specs()) {
    if (spec.op == BACKGAUGE_CUDNN_RNN) continue;
    legal.push_back(spec.word);
    if (list.empty()) out.push_back(spec.op);
  }
  std::size_t begin = 0;
  while (!list.empty() && begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    const OpSpec* spec = find_op(word);
    if (spec == nullptr || spec->op == BACKGAUGE_CUDNN_RNN) {
      throw CommandError{
          kUsage, fmt::format("--ops={}: unknown op \"{}\", expected some of {}", list, word, fmt::join(legal, ", "))};
    }
    if (std::find(out.begin(), out.end(), spec->op) == out.end()) out.push_back(spec->op);
    begin = end + 1;
  }
  return out;
}

CLI::Validator whole_number() {
  return {[](const std::string& text) {
            std::uint64_t number = 0;
            const char* end = text.data() + text.size();
            const auto [stopped, problem] = std::from_chars(text.data(), end, number);
            return problem == std::errc() && stopped == end ? std::string() : text + ": expected a whole number";
          },
          ""};
}

Case parse_case_or_throw(const std::string& line) {
  std::string error;
  const std::optional<Case> parsed = parse_case(line, error);
  if (!parsed) throw CommandError{kUsage, fmt::format("case \"{}\": {}", line, error)};
  return *parsed;
}

const backgauge_implementation& load_implementation(const std::string& name) {
  constexpr std::string_view kSaboteur = "saboteur:";
  if (name.starts_with(kSaboteur)) {
    const auto* saboteur = saboteurs::find_implementation(name.substr(kSaboteur.size()));
    if (saboteur == nullptr) throw CommandError{kNotLoaded, name + ": unknown, see backgauge list --saboteurs"};
    return *saboteur;
  }
  std::string error;
  const backgauge_implementation* implementation = open_implementation(name, error);
  if (implementation == nullptr) throw CommandError{kNotLoaded, error};
  return *implementation;
}

}  // namespace backgauge::cli
