// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/exact.h"
#include "reference/evaluate.h"

namespace backgauge {

template std::vector<Evaluated<Exact<double>::Matrix>> evaluate(const Exact<double>&, const Problem&);
template std::vector<Evaluated<Exact<long double>::Matrix>> evaluate(const Exact<long double>&, const Problem&);

}  // namespace backgauge
