// SPDX-License-Identifier: Apache-2.0
// Problems of one unit, one input, one sample and one step whose results can be worked out by hand, and these results.
// Every number is a small multiple of a power of two, so that sums and products are exact in any dtype, except for one
// tanh in lstm and in rnn_tanh.
#pragma once

#include "properties/case/line/case.h"
#include "reference/oracle.h"

namespace backgauge {

struct ByHand {
  Problem problem;
  std::vector<Wanted> results;  // without shapes
};

// Values are drawn from the case's seed. Only op, dtype, use_peephole and rnn_mode of the case are used. coarse: values
// have so few bits that products are exact in half and under any numerical contract.
ByHand one_unit_by_hand(const Case& c, bool coarse);

}  // namespace backgauge
