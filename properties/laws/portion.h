// SPDX-License-Identifier: Apache-2.0
// A problem with some of its inputs and units, or with all of them in another order. What belongs to a unit: its column
// or row in every state, gate, matrix and bias, of every layer and direction.
#pragma once

#include "properties/laws/transform.h"

namespace backgauge {

struct Portion {
  Places inputs;  // of 0 .. I - 1; with skip_input the same as units
  Places units;   // of 0 .. H - 1
};

// Where the portion's elements of an input or output of the problem stand, in the order of the tensor of the smaller
// problem.
Selection portion_of(const Problem& problem, std::string_view name, const Portion& portion);

// The smaller problem. auto_select becomes what it resolves to.
Problem portion_of(const Problem& problem, const Portion& portion);

// True if no matrix stands between the input and the units.
bool skips_input(const Case& c);

}  // namespace backgauge
