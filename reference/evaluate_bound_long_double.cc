// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/bound.h"
#include "reference/evaluate.h"

namespace backgauge {

template std::vector<Evaluated<Bound<long double>::Matrix>> evaluate(const Bound<long double>&, const Problem&);

}  // namespace backgauge
