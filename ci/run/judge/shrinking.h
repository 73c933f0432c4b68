// SPDX-License-Identifier: Apache-2.0
// Shrinks a failure to the simplest case that fails in the same way, and appends it to the file of regressions.
#pragma once

#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/record/record.h"
#include "properties/judge/runner/runner.h"

namespace backgauge::cli {

struct ShrunkFailure {
  Record record;       // of the simplest case; shrunk_from is the original line, "" if nothing simpler was found
  bool flaky = false;  // the case did not fail again when it ran alone
  std::string effort;  // "shrunk in 143 runs, 2.1 s"
};

// `record`: that of a failed case. One that timed out is returned as it is, because each run would wait as long again.
ShrunkFailure shrink_failure(Runner& runner, const Case& c, const Record& record, int num_threads);

// Appends lines to a file of regressions and prints that. Returns false, with a message on stderr, if it cannot.
bool keep_regressions(const std::string& file, const std::vector<std::string>& lines);

}  // namespace backgauge::cli
