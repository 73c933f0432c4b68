// SPDX-License-Identifier: Apache-2.0
// backgauge report: charts of saved runs, by the Python package of reports/, which knows the options.
#include <CLI/CLI.hpp>

#include "ci/command/python.h"
#include "ci/options/command.h"

namespace backgauge::cli {

void add_report(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("report", "charts, one offline page and a Markdown summary of saved runs");
  command->set_help_flag();
  command->prefix_command();
  command->callback([command, &chosen] {
    chosen = [arguments = command->remaining()]() -> int {
      become_python("backgauge.report", {"numpy", "matplotlib", "jinja2"}, arguments);
    };
  });
}

}  // namespace backgauge::cli
