// SPDX-License-Identifier: Apache-2.0
// How long the oracle takes for a case, which decides how many large cases a tier can have.
#pragma once

#include "properties/case/line/case.h"

namespace backgauge {

// In units of one weight that the oracle evaluates: 0.55 microseconds of one core.
double oracle_work(const Case& c);
inline constexpr double kWorkOfASecond = 1 / 0.55e-6;

}  // namespace backgauge
