// SPDX-License-Identifier: Apache-2.0
// What is plainer than a case. A failure shrinks along these steps to a line in which every word that is not the
// plainest one matters.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/case/case.h"

namespace backgauge {

// How far a case is from the plainest: dims of 1 (0 is a special case), seq_len_max = T, one layer, one direction, no
// dropout, no peephole, no clipping, linear_input, rnn_tanh, float32, plain values, seed 0.
std::int64_t complexity(const Case& c);

// Legal cases that `about` leaves as they are, less complex than c, the least complex first.
std::vector<Case> simpler(const Case& c, Case (*about)(Case));

}  // namespace backgauge
