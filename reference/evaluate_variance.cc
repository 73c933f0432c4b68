// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/variance.h"
#include "reference/evaluate.h"

namespace backgauge {

template std::vector<Evaluated<Variance::Matrix>> evaluate(const Variance&, const Problem&);

}  // namespace backgauge
