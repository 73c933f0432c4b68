// SPDX-License-Identifier: Apache-2.0
// The subcommands of `backgauge`: each adds itself to the parser and, when chosen, runs and gives an exit code.
#pragma once

#include <functional>
#include <string>

#include "ci/options/cli_fwd.h"

namespace backgauge::cli {

// properties/README.md says when each is given. Where several apply: kSelfCheck, kFailed, kInconclusive.
enum ExitCode : int {
  kGood = 0,
  kFailed = 1,  // FAILED or BROKEN(implementation)
  kUsage = 2,
  kNotLoaded = 3,     // the implementation
  kInconclusive = 5,  // nothing judged; under --strict also MISTRUSTED, or cases not run
  kSelfCheck = 6,     // BROKEN(harness)
  kInterrupted = 130
};

// Trouble with what the user asked for: said on stderr, exit code as given.
struct CommandError {
  int exit_code;
  std::string text;
};

// What the chosen subcommand does; set by its callback.
using Action = std::function<int()>;

void add_list(CLI::App& app, Action& chosen);
void add_verify(CLI::App& app, Action& chosen);
void add_repro(CLI::App& app, Action& chosen);
void add_merge(CLI::App& app, Action& chosen);
void add_oracle(CLI::App& app, Action& chosen);
void add_judge(CLI::App& app, Action& chosen);
void add_self(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);

}  // namespace backgauge::cli
