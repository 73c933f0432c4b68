// SPDX-License-Identifier: Apache-2.0
// The terms of the sums that outputs are, for hint.h.
#pragma once

#include <string>
#include <vector>

#include "reference/oracle.h"

namespace backgauge {

using Values64 = std::vector<double>;

struct Term {
  std::string name;  // "di * wci"
  Values64 values;   // one per element of the output
};

// Parts of an output by position: a gate, the rows of x or h in w_grad, the first and the last step or row.
std::vector<Term> places_of(const Problem& problem, const Wanted& wanted);

// The terms of the equations of LSTMBlockCellGrad (reference/equations/lstm_cell.md) that add up to an output; none for
// other ops, whose steps feed each other.
std::vector<Term> cell_terms_of(const Problem& problem, const Wanted& wanted);

}  // namespace backgauge
