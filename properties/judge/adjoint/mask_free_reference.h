// SPDX-License-Identifier: Apache-2.0
// Facts about the correct outputs of CudnnRNNBackprop and its forward that do not depend on the dropout masks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "properties/judge/compare/expected_outputs.h"

namespace backgauge {

struct MaskFreeReference {
  // Outputs of forward and gradient in the order of the op's table. `allowed` is infinite except where no mask has an
  // influence: the last states of the layers before the first gap, and gradients that are zero whatever is dropped.
  std::vector<Wanted> forward, gradient;

  // Per output and element, the largest error of a result before it is stored: the maximum over three choices of masks,
  // no dropout at all and two random draws.
  std::vector<std::vector<double>> forward_errors, gradient_errors;

  // True if all values and bounds of these three choices are finite and below the largest number of the dtype.
  bool in_range = true;

  // True if the steps of a slope are so long that its curvature has to be measured with random draws of the masks for
  // every direction. Otherwise draws are made only where both sides disagree.
  bool long_steps = false;

  // The problem with masks drawn at random, and the values of its gradients.
  struct Draw {
    Problem problem;
    std::vector<Tensor> gradient;
  };
  // The k-th draw for the problem that mask_free_reference() was given. Each is computed once and kept.
  std::function<const Draw&(int)> draw;
};

// On input a problem with random dropout, whose masks are ignored. If an input is not finite, only the states above are
// known, because the masks decide where a NaN goes.
MaskFreeReference mask_free_reference(const Problem& problem, ExpectedOutputs& expected, const Declared& declared,
                                      std::uint64_t seed);

}  // namespace backgauge
