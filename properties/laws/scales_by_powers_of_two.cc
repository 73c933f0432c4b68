// SPDX-License-Identifier: Apache-2.0
// Law: Upstream gradients times 2^k give gradients times 2^k, bit for bit, where no value is near an end of the
// range.
// Kind: exact.
// Catches: clipping, absolute epsilons and thresholds, gradients rounded to a fixed grid or to a smaller range of
// exponents.
#include <cmath>
#include <limits>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace scales_by_powers_of_two_law {
namespace {

// The other data profiles reach the ends of the range on purpose.
Case about(Case c) {
  c = without_narrow(c);
  if (c.data != DataProfile::kZeros && c.data != DataProfile::kConstant) c.data = DataProfile::kStratified;
  return c;
}

// +-1 .. +-8.
int exponent_of(const Case& c) {
  const int exponent = 1 + static_cast<int>(c.seed / 2 % 8);
  return c.seed % 2 == 0 ? exponent : -exponent;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  }
  Problem problem = filled(c).problem;
  const int exponent = exponent_of(c);
  const auto once = exactly(answer(implementation, problem));
  change_upstream(problem, [&](std::string_view, std::int64_t, double value) { return std::ldexp(value, exponent); });
  const auto scaled = exactly(answer(implementation, problem));
  // A term that underflows loses less than the smallest normal number. In results 2^40 above that, the loss is far
  // below any rounding.
  const double safe = float_format(c.dtype).least_normal * 0x1p40;
  Agreement agreement(implementation, c);
  for (const TensorSpec& output : find_op(c.op)->outputs) {
    if (!output.present(problem.extents)) continue;
    Wanted expected = named(once, output.name);
    for (std::size_t k = 0; k < expected.value.size(); ++k) {
      const double size = static_cast<double>(std::fabs(expected.value[k]));
      if (size > 0 && size < safe) expected.allowed[k] = std::numeric_limits<double>::infinity();
      expected.value[k] = std::ldexp(expected.value[k], exponent);
    }
    agreement.expect(named(scaled, output.name), expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace scales_by_powers_of_two_law

Law scales_by_powers_of_two() {
  using namespace scales_by_powers_of_two_law;
  return {"M10",    "ScalesByPowersOfTwo", "upstream gradients times 2^k give gradients times 2^k",
          every_op, Sizes::kWide,          about,
          check};
}

}  // namespace backgauge
