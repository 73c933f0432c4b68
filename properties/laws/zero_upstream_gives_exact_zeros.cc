// SPDX-License-Identifier: Apache-2.0
// Law: If all upstream gradients are zero, every gradient is zero, also with weights at the end of the range.
// Kind: exact.
// Catches: outputs or carries that are not cleared, workspace contents that leak into outputs, constants added to
// gradients, products of weights with each other before a gradient enters.
#include <cmath>
#include <utility>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace zero_upstream_gives_exact_zeros_law {
namespace {

Case about(Case c) { return with_finite_values(std::move(c)); }

// Used in half of the cases. The forward must stay finite with these weights: a relu would not, and in half precision
// the sums of CudnnRNNBackprop might not.
bool has_huge_weights(const Case& c) {
  const bool unbounded =
      c.rnn_mode == BACKGAUGE_RNN_RELU || (traits_of(c.op).forward.has_value() && c.dtype == BACKGAUGE_HALF);
  return c.seed % 2 == 1 && !unbounded;
}

// Large enough to overflow when squared, with room for a sum of thousands of terms of up to 1e4.
double huge(backgauge_dtype dtype) {
  return dtype == BACKGAUGE_HALF ? 6e4 : dtype == BACKGAUGE_FLOAT64 ? 0x1p999 : 0x1p99;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  Problem problem = filled(c).problem;
  change_upstream(problem, [](std::string_view, std::int64_t, double) { return 0.0; });
  if (has_huge_weights(c)) {
    change_weights(problem,
                   [&](std::string_view, std::int64_t, double value) { return std::copysign(huge(c.dtype), value); });
  }
  const auto got = exactly(answer(implementation, problem));
  Agreement agreement(implementation, c);
  for (const TensorSpec& output : find_op(c.op)->outputs) {
    if (!output.present(problem.extents)) continue;
    const Wanted& gradient = named(got, output.name);
    agreement.expect(gradient, zeros_like(gradient));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace zero_upstream_gives_exact_zeros_law

Law zero_upstream_gives_exact_zeros() {
  using namespace zero_upstream_gives_exact_zeros_law;
  return {"M13",
          "ZeroUpstreamGivesExactZeros",
          "if all upstream gradients are zero, every gradient is zero",
          every_op,
          Sizes::kWide,
          about,
          check};
}

}  // namespace backgauge
