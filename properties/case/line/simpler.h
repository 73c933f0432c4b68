// SPDX-License-Identifier: Apache-2.0
// Simpler variants of a case. A failure shrinks along these steps to a line in which every word matters that is not the
// simplest one.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

// How far a case is from the simplest: dims of 1 (0 is a special case), seq_len_max = T, one layer, one direction, no
// dropout, no peephole, no clipping, linear_input, rnn_tanh, float32, plain values, seed 0.
std::int64_t complexity(const Case& c);

// Legal cases less complex than c that `about` does not change, the least complex first.
std::vector<Case> simpler(const Case& c, Case (*about)(Case));

}  // namespace backgauge
