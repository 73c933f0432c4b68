// SPDX-License-Identifier: Apache-2.0
#include "ci/options/declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "ci/options/command_error.h"

namespace backgauge::cli {
namespace {

// `text`: one value, or values of single dtypes.
void declare(const Property& property, const std::string& text, Claims& claims) {
  if (const std::optional<double> value = property.parse(text)) return property.set_all(claims, *value);
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    const std::int32_t dtype = enumerator_of(dtype_word, part.substr(0, colon));
    const std::optional<double> value = property.parse(part.substr(std::min(colon + 1, part.size())));
    if (!value || find_dtype(dtype) == nullptr || !property.matters_for(dtype)) {
      throw CommandError{kUsage, fmt::format("{}={}: expected {}, or f16:WORD,bf16:WORD for single dtypes",
                                             option_of(property), text, property.expected_text())};
    }
    property.set(claims, dtype, *value);
  }
}

}  // namespace

std::string option_of(const Property& property) {
  std::string name = "--" + std::string(property.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

Claims DeclarationOptions::claims() const {
  Claims out;
  for (const auto& [name, text] : words) declare(*find_property(name), text, out);
  for (const auto& [name, is_given] : flags) find_property(name)->set_all(out, is_given ? 1 : 0);
  return out;
}

void add_declaration_options(Subcommand& command, DeclarationOptions& options) {
  for (const Property& property : properties()) {
    const std::string help(property.documentation);
    if (property.effect != Effect::kRounding) continue;
    if (property.kind == Property::Kind::kFlag) {
      command.flag(option_of(property), options.flags[property.name], help);
    } else {
      std::string& text = options.words[property.name] = property.words_of(property.usual).front();
      const bool is_error = property.kind == Property::Kind::kError;
      command.option(option_of(property), text, is_error ? help : fmt::format("{}: {}", words_in(property.word), help));
    }
  }
}

}  // namespace backgauge::cli
