// SPDX-License-Identifier: Apache-2.0
// A verdict as text.
#pragma once

#include <string>

#include "properties/judge/compare/verdict.h"

namespace backgauge {

// "cs_prev_grad[1,0]: got 0.41802 want 0.43177 ratio 1.9e+05 (allowed 7.1e-08); 2 of 4 elements wrong"
std::string tensor_text(const TensorReport& tensor);

// The lines below the line of a case that has not passed: the reason, unless it is the line of a tensor; a line for
// each bad or vacuous tensor; the names of the correct ones; notes and hints. Each line is indented by two spaces and
// ends with a newline.
std::string verdict_text(const Verdict& verdict);

// The same in at most five lines: the reason, how many more outputs are wrong, notes and hints.
std::string brief_text(const Verdict& verdict);

}  // namespace backgauge
