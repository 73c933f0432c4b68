// SPDX-License-Identifier: Apache-2.0
// The properties that a program declares with its output files, as an implementation does in its table.
#pragma once

#include <map>
#include <string>

#include "ci/options/command_line.h"
#include "reference/contract/claims.h"

namespace backgauge::cli {

struct DeclarationOptions {
  std::map<std::string_view, std::string> words;  // by name of the property
  std::map<std::string_view, bool> flags;

  // The usual claims but for what was given. Their op does not matter. Throws CommandError(kUsage).
  Claims claims() const;
};

// An option for each property that changes where results are rounded: --accuracy-class=B, or, for single dtypes,
// --accuracy-class=f16:B,bf16:A'.
void add_declaration_options(Subcommand& command, DeclarationOptions& options);

// "accuracy_class" as "--accuracy-class".
std::string option_of(const Property& property);

}  // namespace backgauge::cli
