// SPDX-License-Identifier: Apache-2.0
// A second answer to every op, to judge the oracle by: the forward pass written down plainly, and the tape's chain rule
// for everything else. It shares no equation, no layout and no library with the oracle. README.md says how it models
// each op.
#pragma once

#include <string>
#include <vector>

#include "reference/contract/call.h"

namespace backgauge {

template <class Scalar>
struct WitnessTensor {
  std::string name;
  Shape shape;
  std::vector<Scalar> value;
  std::vector<Scalar> magnitude;  // tape.h; 0: the value is exactly zero
};

// On input a legal problem; of its inputs only what the op may read is looked at, of CudnnRNNBackprop's not output,
// output_h, output_c and reserve_space. Dropout masks in problem.keep where 0 < dropout < 1 and L > 1.
// On output every output of the op in the order of its table, but for reserve_space: of a
// forward op the forward, else the gradient. Scalar is double or long double.
template <class Scalar = double>
std::vector<WitnessTensor<Scalar>> witness(const Problem& problem);

}  // namespace backgauge
