// SPDX-License-Identifier: Apache-2.0
// A case as a problem without values.
#pragma once

#include "properties/case/line/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// The problem of a case with the shapes of all inputs that fill() draws, without values.
Problem shaped_problem(const Case& c);

}  // namespace backgauge
