// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/noise.h"
#include "reference/evaluate.h"

namespace backgauge {

template std::vector<Evaluated<Noise::Matrix>> evaluate(const Noise&, const Problem&);

}  // namespace backgauge
