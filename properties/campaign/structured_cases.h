// SPDX-License-Identifier: Apache-2.0
// Cases of the classes whose tensors have a structure, each structure by name and not by chance.
#pragma once

#include <vector>

#include "properties/campaign/draws.h"
#include "properties/case/case.h"

namespace backgauge {

// Every structure of every class (case/structures.h) in shapes in which all of its parts are there: peepholes, two
// directions, several steps. `thorough`: with each dtype and mode; otherwise these take turns,
// and of a stacked net one case is an LSTM and one another mode.
std::vector<Case> structured_cases(backgauge_op op, bool thorough, Draws& draws);

}  // namespace backgauge
