// SPDX-License-Identifier: Apache-2.0
// backgauge compare: verdicts on times, by the Python package of reports/, which knows the options.
#include <CLI/CLI.hpp>

#include "ci/command/python.h"
#include "ci/options/command.h"

namespace backgauge::cli {

void add_compare(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("compare", "two runs, implementations or builds: SAME, FASTER, SLOWER or UNCLEAR");
  command->set_help_flag();
  command->prefix_command();
  command->callback([command, &chosen] {
    chosen = [arguments = command->remaining()]() -> int {
      become_python("backgauge.compare", {"numpy", "scipy"}, arguments);
    };
  });
}

}  // namespace backgauge::cli
