// SPDX-License-Identifier: Apache-2.0
// Law: x times 2^k gives its rows of w_grad times 2^k, bit for bit. Nothing else changes: the gates are saved, so no
// other output depends on x.
// Kind: exact.
// Catches: x read instead of a state or the other way round, rows of w_grad that contain a sum of both, clipping,
// absolute epsilons.
#include <cmath>
#include <limits>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace scales_with_the_input_law {
namespace {

// The other data profiles reach the ends of the range on purpose.
Case about(Case c) {
  c = without_narrow(c);
  if (c.data != DataProfile::kZeros && c.data != DataProfile::kConstant) c.data = DataProfile::kStratified;
  return c;
}

// -1 .. -8.
int exponent_of(const Case& c) { return -1 - static_cast<int>(c.seed % 8); }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  }
  Problem problem = filled(c).problem;
  const int exponent = exponent_of(c);
  const auto once = exactly(answer(implementation, problem));
  Tensor& x = input(problem, "x");
  const std::int64_t read = elements_read(problem, "x");
  for (std::int64_t k = 0; k < read; ++k) x.values[k] = std::ldexp(x.values[k], exponent);
  const auto scaled = exactly(answer(implementation, problem));
  // A term that underflows loses less than the smallest normal number. In results 2^40 above that, the loss is far
  // below any rounding.
  const double safe = float_format(c.dtype).least_normal * 0x1p40;
  Agreement agreement(implementation, c);
  for (const Wanted& output : scaled) {
    Wanted expected = named(once, output.name);
    const std::int64_t rows_of_x = output.name == "w_grad" ? c.I * 4 * c.H : 0;
    for (std::int64_t k = 0; k < rows_of_x; ++k) {
      const double size = static_cast<double>(std::fabs(expected.value[k]));
      if (size > 0 && size < safe) expected.allowed[k] = std::numeric_limits<double>::infinity();
      expected.value[k] = std::ldexp(expected.value[k], exponent);
    }
    agreement.expect(output, expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace scales_with_the_input_law

Law scales_with_the_input() {
  using namespace scales_with_the_input_law;
  return {"M10b",
          "ScalesWithTheInput",
          "x times 2^k gives its rows of w_grad times 2^k, and nothing else changes",
          ops_with_seq_len_max,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
