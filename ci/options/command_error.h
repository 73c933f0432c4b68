// SPDX-License-Identifier: Apache-2.0
// The exit codes of the command, and the exception for errors that the user can correct.
#pragma once

#include <string>

namespace backgauge::cli {

// properties/README.md says when each is returned. If several apply, the first of kSelfCheck, kFailed, kInconclusive.
enum ExitCode : int {
  kGood = 0,
  kFailed = 1,  // FAILED or BROKEN(implementation)
  kUsage = 2,
  kNotLoaded = 3,     // the implementation cannot be loaded
  kInconclusive = 5,  // nothing proven; under --strict also if a case is MISTRUSTED or was not run
  kSelfCheck = 6,     // BROKEN(harness)
  kInterrupted = 130
};

// Ends the command: `text` is printed on stderr.
struct CommandError {
  int exit_code;
  std::string text;
};

}  // namespace backgauge::cli
