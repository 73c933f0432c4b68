// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "properties/case/line/random.h"
#include "properties/laws/answer.h"
#include "properties/laws/draw_case.h"
#include "properties/laws/law.h"

namespace backgauge {

std::vector<Law> laws() {
  return {
#define BACKGAUGE_LAW(name) name(),
#include "properties/laws/laws.inc"
#undef BACKGAUGE_LAW
  };
}

Finding check_law(const Law& law, const backgauge_implementation& implementation, const Case& c) {
  try {
    const Filled inputs = filled(c);
    const std::string reason = unclaimed(claims_of(implementation, c.op), inputs.problem, inputs.facts);
    if (!reason.empty()) return {Outcome::kSaysNothing, reason};
    return law.check(implementation, c);
  } catch (const Unclaimed& reason) {
    return {Outcome::kSaysNothing, reason.what()};
  } catch (const std::exception& error) {
    return {Outcome::kBroken, error.what()};
  }
}

std::vector<Case> law_cases(const Law& law, backgauge_op op, int count, std::uint64_t seed) {
  const RandomStream seeds(seed, law.name);
  std::vector<Case> out;
  for (int k = 0; k < count; ++k) out.push_back(law.about(draw_case(op, law.sizes, seeds.bits(k))));
  return out;
}

}  // namespace backgauge
