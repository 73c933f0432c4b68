// SPDX-License-Identifier: Apache-2.0
// What to declare where agreement with inputs of a user's own would prove nothing.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge::cli {

// On input the verdict on outputs for such inputs. If it is MISTRUSTED, its note says why, and what to declare.
void explain_own(const ExpectedOutputs& expected, const Problem& problem, const Declared& declared, Verdict& verdict);

// "the allowed errors of x_grad and w_grad prove nothing", for implementations with these declared properties; "" if
// all of them prove something. `own`: the inputs are a user's own; then it says what to declare, too.
std::string unproven(const ExpectedOutputs& expected, const Problem& problem, const std::vector<Wanted>& wanted,
                     const Declared& declared, bool own);

}  // namespace backgauge::cli
