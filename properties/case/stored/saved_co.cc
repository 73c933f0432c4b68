// SPDX-License-Identifier: Apache-2.0
#include "properties/case/stored/saved_co.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "reference/contract/op_spec.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// A forward computes co = tanh(c) and stores both. Rounding co changes it by at most u of its size; rounding c changes
// tanh by at most u of its size too, because |x tanh'(x)| <= |tanh x|. An implementation that computes tanh(cs) is
// allowed these 2 u and the error of its own tanh (bounds.md 2), so a pair that is further apart cannot be judged.
// Below the normal range a rounding may be larger, but what is allowed has no absolute term for it. NaN never passes.
bool is_tanh(double co, double cs, double unit_roundoff) {
  const auto given = static_cast<long double>(co);
  const long double computed = std::tanh(static_cast<long double>(cs));
  return std::fabs(given - computed) <= 2 * static_cast<long double>(unit_roundoff) * std::fabs(given);
}

}  // namespace

bool saved_co_is_tanh_of_cs(const Problem& problem) {
  const std::vector<TensorSpec>& inputs = spec_of(problem.op).inputs;
  const auto spec = std::ranges::find(inputs, "co", &TensorSpec::name);
  if (spec == inputs.end()) return true;
  const Tensor &co = *problem.find("co"), &cs = *problem.find("cs");
  const double unit_roundoff = float_format(problem.dtype).unit_roundoff;
  const auto read = static_cast<std::size_t>(elements_in_rows(co.shape, spec->rows(problem.extents)));
  for (std::size_t k = 0; k < read; ++k) {
    if (!is_tanh(co.values[k], cs.values[k], unit_roundoff)) return false;
  }
  return true;
}

}  // namespace backgauge
