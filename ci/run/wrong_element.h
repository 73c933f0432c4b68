// SPDX-License-Identifier: Apache-2.0
// The values around a wrong element: the inputs, the expected and allowed values, and the output.
#pragma once

#include <string>

#include "properties/case/case.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"

namespace backgauge::cli {

// Runs the case once more. On output text of some lines on the first wrong element of the first wrong output; where
// nothing is wrong, on the element that comes closest to its limit; why there is nothing to show, where no output was
// compared or masks are the implementation's own.
std::string numbers_text(Runner& runner, const Case& c, const Verdict& verdict, int num_threads);

}  // namespace backgauge::cli
