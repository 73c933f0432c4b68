// SPDX-License-Identifier: Apache-2.0
// A net layer by layer: what each makes, multiplied by the mask of the gap above it, is the input of the next.
#pragma once

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"

namespace backgauge {

// Expects of every output of `net`, a CudnnRNNBackprop problem's answer with its masks, what the same implementation
// makes of the layers one by one. Within twice the bound of the net, because evaluating it layer by layer is one of the
// orders that the bound covers; not in half, where what passes between two layers would be rounded more often.
void expect_layer_chain(Agreement& agreement, const backgauge_implementation& implementation, const Answer& net,
                        const DataFacts& facts);

}  // namespace backgauge
