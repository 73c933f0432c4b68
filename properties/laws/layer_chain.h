// SPDX-License-Identifier: Apache-2.0
// Runs a net layer by layer and direction by direction: the output of each layer, multiplied by a mask of the gap above
// it, is the input of the next.
#pragma once

#include "properties/case/line/filled.h"
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"

namespace backgauge {

// Compares every output of `net`, the answer to a CudnnRNNBackprop problem with its masks, with the outputs of the same
// implementation on the layers one by one. The tolerance is twice the bound of the net, because evaluating it layer by
// layer is one of the orders that the bound covers. Not for half: values passed between two layers would be rounded
// more often.
void expect_layer_chain(Agreement& agreement, const backgauge_implementation& implementation, const Answer& net,
                        const DataFacts& facts);

}  // namespace backgauge
