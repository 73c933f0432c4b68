// SPDX-License-Identifier: Apache-2.0
// A verdict in words.
#pragma once

#include <string>

#include "properties/judge/compare/verdict.h"

namespace backgauge {

// "cs_prev_grad[1,0]: got 0.41802 want 0.43177 ratio 1.9e+05 (allowed 7.1e-08); 2 of 4 elements wrong"
std::string tensor_text(const TensorReport& tensor);

// What stands below the line of a case that has not passed: the reason unless a tensor says it, one line per bad or
// vacuous tensor, which tensors are right, and what a look into the failure has shown. Each line is indented by two
// spaces and ends with a newline.
std::string verdict_text(const Verdict& verdict);

// The same in at most five lines: the reason, how many more outputs are wrong, and what a look into it has shown.
std::string brief_text(const Verdict& verdict);

}  // namespace backgauge
