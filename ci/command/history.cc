// SPDX-License-Identifier: Apache-2.0
// backgauge history: runs remembered for years, by the Python package of reports/, which knows the options.

#include "ci/command/subcommands.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/python.h"

namespace backgauge::cli {

void add_history(CommandLine& line) {
  Subcommand command =
      line.subcommand("history", "remember runs of bench, and find the commits that made something slower");
  command.pass_everything_on();
  command.action([command]() -> int { become_python("backgauge.history", {"numpy"}, command.unknown_options()); });
}

}  // namespace backgauge::cli
