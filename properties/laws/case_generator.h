// SPDX-License-Identifier: Apache-2.0
// Cases of draw_case() for RapidCheck. A failing case shrinks to a line in which every word that is not the plainest
// one matters.
#pragma once

#include <rapidcheck.h>

#include <iosfwd>

#include "properties/laws/law.h"

namespace backgauge {

// Legal cases of an op that `about` leaves as they are.
rc::Gen<Case> cases(backgauge_op op, Sizes sizes, Case (*about)(Case));

// How far a case is from the plainest: dims of 1 (0 is a special case), seq_len_max = T, one layer, one direction, no
// dropout, no peephole, no clipping, linear_input, rnn_tanh, float32, strat, seed 0.
std::int64_t complexity(const Case& c);

// Legal cases that `about` leaves as they are, less complex than c, the least complex first.
std::vector<Case> simpler(const Case& c, Case (*about)(Case));

// For RapidCheck: a case is shown as its line.
void showValue(const Case& c, std::ostream& out);

}  // namespace backgauge
