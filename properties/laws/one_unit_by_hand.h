// SPDX-License-Identifier: Apache-2.0
// Problems of one unit, one input, one sample and one step whose results can be worked out by hand, and these results.
// Every number is a small multiple of a power of two, so that sums and products of them are exact in any dtype, but for
// one tanh in an lstm and in rnn_tanh.
#pragma once

#include "properties/case/case.h"
#include "reference/oracle.h"

namespace backgauge {

struct ByHand {
  Problem problem;
  std::vector<Wanted> results;  // without shapes
};

// Values follow from the case's seed; of the case itself op, dtype, use_peephole and rnn_mode matter. coarse: so few
// bits that products are exact in half and under any numerical contract.
ByHand one_unit_by_hand(const Case& c, bool coarse);

}  // namespace backgauge
