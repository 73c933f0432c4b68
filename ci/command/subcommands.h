// SPDX-License-Identifier: Apache-2.0
// One function per subcommand, which declares its options and its action.
#pragma once

#include "ci/options/command_line.h"

namespace backgauge::cli {

#define BACKGAUGE_SUBCOMMAND(name) void add_##name(CommandLine& line);
#define BACKGAUGE_PYTHON_SUBCOMMAND(...)
#include "ci/command/subcommands.inc"
#undef BACKGAUGE_SUBCOMMAND
#undef BACKGAUGE_PYTHON_SUBCOMMAND

}  // namespace backgauge::cli
