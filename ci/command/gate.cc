// SPDX-License-Identifier: Apache-2.0
// backgauge gate: verify, times and a policy, one verdict, by the Python package of reports/, which knows the options.

#include "ci/command/subcommands.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/python.h"

namespace backgauge::cli {

void add_gate(CommandLine& line) {
  Subcommand command = line.subcommand(
      "gate", "is a build right, and no slower than before? verify, bench against a baseline, one verdict");
  command.pass_everything_on();
  command.action([command]() -> int {
    become_python("backgauge.gate", {"numpy", "scipy"}, command.unknown_options());
  });
}

}  // namespace backgauge::cli
