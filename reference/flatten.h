// SPDX-License-Identifier: Apache-2.0
// A problem evaluated in an arithmetic, as plain numbers: one list per output in the order of the op's table, one
// number per element; rows at the end that are zero by contract are left out.
#pragma once

#include <vector>

#include "reference/arithmetic/bound.h"
#include "reference/arithmetic/exact.h"
#include "reference/arithmetic/named_terms.h"
#include "reference/arithmetic/noise.h"
#include "reference/arithmetic/noisy_over_steps.h"
#include "reference/arithmetic/variance.h"
#include "reference/evaluate.h"

namespace backgauge {

// Instantiated in evaluate_*.cc, because they take long to compile.
extern template std::vector<Evaluated<Exact<double>::Matrix>> evaluate(const Exact<double>&, const Problem&);
extern template std::vector<Evaluated<Exact<long double>::Matrix>> evaluate(const Exact<long double>&, const Problem&);
extern template std::vector<Evaluated<Bound<double>::Matrix>> evaluate(const Bound<double>&, const Problem&);
extern template std::vector<Evaluated<Bound<long double>::Matrix>> evaluate(const Bound<long double>&, const Problem&);
extern template std::vector<Evaluated<Variance::Matrix>> evaluate(const Variance&, const Problem&);
extern template std::vector<Evaluated<Noise::Matrix>> evaluate(const Noise&, const Problem&);
extern template std::vector<Evaluated<NamedTerms::Matrix>> evaluate(const NamedTerms&, const Problem&);

using OutputNumbers = std::vector<std::vector<double>>;

// element(part, k): the number of element k of a matrix of the arithmetic.
template <class A, class Element>
auto flatten(const A& arithmetic, const Problem& problem, Element element) {
  using Number = decltype(element(std::declval<const typename A::Matrix&>(), Index{}));
  std::vector<std::vector<Number>> out;
  for (auto& evaluated : evaluate(arithmetic, problem)) {
    std::vector<Number>& values = out.emplace_back();
    Index count = 0;
    for (const auto& part : evaluated.parts) count += part.size();
    values.reserve(static_cast<std::size_t>(count));
    for (auto& part : evaluated.parts) {
      for (Index k = 0; k < part.size(); ++k) values.push_back(element(part, k));
      part = typename A::Matrix();
    }
  }
  return out;
}

}  // namespace backgauge
