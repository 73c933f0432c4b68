// SPDX-License-Identifier: Apache-2.0
// backgauge campaign: tiers judged on many machines, by the Python package of reports/, which knows the options.

#include "ci/command/subcommands.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/python.h"

namespace backgauge::cli {

void add_campaign(CommandLine& line) {
  Subcommand command = line.subcommand("campaign", "judge a tier, or millions of cases, on many cores or machines");
  command.pass_everything_on();
  command.action([command]() -> int { become_python("backgauge.campaign", {"numpy"}, command.unknown_options()); });
}

}  // namespace backgauge::cli
