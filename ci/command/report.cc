// SPDX-License-Identifier: Apache-2.0
// backgauge report: charts of saved runs, by the Python package of reports/, which knows the options.

#include "ci/command/subcommands.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/python.h"

namespace backgauge::cli {

void add_report(CommandLine& line) {
  Subcommand command =
      line.subcommand("report", "draw charts of saved runs, with an offline page and a Markdown summary");
  command.pass_everything_on();
  command.action([command]() -> int {
    become_python("backgauge.report", {"numpy", "matplotlib", "jinja2"}, command.unknown_options());
  });
}

}  // namespace backgauge::cli
