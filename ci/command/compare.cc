// SPDX-License-Identifier: Apache-2.0
// backgauge compare: verdicts on times, by the Python package of reports/, which knows the options.

#include "ci/command/subcommands.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/python.h"

namespace backgauge::cli {

void add_compare(CommandLine& line) {
  Subcommand command = line.subcommand(
      "compare", "compare the times of two runs, implementations or builds: SAME, FASTER, SLOWER or UNCLEAR");
  command.pass_everything_on();
  command.action([command]() -> int {
    become_python("backgauge.compare", {"numpy", "scipy"}, command.unknown_options());
  });
}

}  // namespace backgauge::cli
