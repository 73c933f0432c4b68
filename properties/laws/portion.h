// SPDX-License-Identifier: Apache-2.0
// A problem with some of its inputs and units, or with all of them in another order. A unit is its column or row in
// every state, gate, matrix and bias, in every layer and direction.
#pragma once

#include "properties/laws/transform.h"

namespace backgauge {

struct Portion {
  Places inputs;  // of 0 .. I - 1; with skip_input the same as units
  Places units;   // of 0 .. H - 1
};

// Positions of the portion's elements in an input or output of the problem, in the order of the same tensor of the
// smaller problem.
Selection portion_of(const Problem& problem, std::string_view name, const Portion& portion);

// The smaller problem. auto_select is replaced by the mode it resolves to.
Problem portion_of(const Problem& problem, const Portion& portion);

// True if layer 0 adds the input to the units without a matrix.
bool skips_input(const Case& c);

}  // namespace backgauge
