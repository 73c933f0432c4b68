// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/oracle_work.h"

#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

// The oracle evaluates a weight 24 times with perturbations, whatever the other sizes are. A value at a step costs as
// much as 2.5 weights, an element of x as much as one, a step of a layer as much as 64, however small it is; a weight
// that is drawn but not evaluated costs 0.15. Fitted to the times of the 1,300 large cases of tier ci on an AVX2
// processor of 2020, where a weight costs 0.55 microseconds of one core.
constexpr double kPerValue = 2.5, kPerInput = 1, kPerStep = 64, kUnread = 0.15;

// Elements that are not read are not drawn in a larger tensor: case/draw/inputs.h.
constexpr double kDrawnWhole = 0x1p24;

double work_of_weights(const TensorSpec& matrices, const Extents& e) {
  const auto weights = static_cast<double>(element_count(matrices.shape(e)).value_or(0));
  if (matrices.rows(e) > 0) return weights;
  return weights > kDrawnWhole ? 0 : kUnread * weights;
}

}  // namespace

double oracle_work(const Case& c) {
  const Extents e = extents_of(c);
  const auto gates = static_cast<double>(rnn_gates(c.rnn_mode));
  const auto steps = static_cast<double>(c.T * e.L * e.D);
  return work_of_weights(spec_of(c.op).input(Role::kWeight), e) + kPerInput * static_cast<double>(c.T * c.B * c.I) +
         steps * (kPerStep + kPerValue * gates * static_cast<double>(c.B * c.H));
}

}  // namespace backgauge
