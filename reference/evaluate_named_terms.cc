// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/named_terms.h"
#include "reference/evaluate.h"

namespace backgauge {

template std::vector<Evaluated<NamedTerms::Matrix>> evaluate(const NamedTerms&, const Problem&);

}  // namespace backgauge
