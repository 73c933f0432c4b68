// SPDX-License-Identifier: Apache-2.0
// The properties that a program declares with its output files, as an implementation does in its table.
#pragma once

#include <string>

#include "ci/options/command_line.h"
#include "reference/oracle.h"

namespace backgauge::cli {

struct DeclarationOptions {
  std::string half_class = "A", contract = "fp32_strict";
  bool recomputes_co = false;

  Declared declared() const;  // throws CommandError(kUsage)
};

// --half-class, --contract, --recomputes-co.
void add_declaration_options(Subcommand& command, DeclarationOptions& options);

}  // namespace backgauge::cli
