// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/noisy_over_steps.h"
#include "reference/evaluate.h"

namespace backgauge {

template std::vector<Evaluated<Noise::Matrix>> evaluate(const Noise&, const Problem&);

}  // namespace backgauge
