// SPDX-License-Identifier: Apache-2.0
// The values around a wrong element: the inputs, the expected and allowed values, and the output.
#pragma once

#include <string>

#include "properties/case/line/case.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"

namespace backgauge::cli {

// Runs the case once more and describes, in a few lines, the first wrong element of the first wrong output, or, if
// nothing is wrong, the element closest to its limit. If no output was compared, or masks are not available, it says
// so.
std::string numbers_text(Runner& runner, const Case& c, const Verdict& verdict, int num_threads);

}  // namespace backgauge::cli
