// SPDX-License-Identifier: Apache-2.0
// Law: No case is judged FAILED or BROKEN.
// Catches: everything that the judge detects, on random cases.
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/judge.h"
#include "properties/laws/answer.h"
#include "properties/laws/law.h"

namespace backgauge {
namespace matches_the_reference_law {
namespace {

Case about(Case c) { return c; }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const Filled inputs = filled(c);
  const Verdict verdict = judge_case(implementation, inputs.problem, inputs.facts, {.seed = c.seed});
  switch (verdict.status) {
    case Status::kPassed: return {Outcome::kHolds, ""};
    case Status::kMistrusted:
    case Status::kSkipped: return {Outcome::kSaysNothing, verdict_text(verdict)};
    case Status::kFailed:
    case Status::kBroken: break;
  }
  return {Outcome::kBroken, verdict_text(verdict)};
}

}  // namespace
}  // namespace matches_the_reference_law

Law matches_the_reference() {
  using namespace matches_the_reference_law;
  return {"M0", "MatchesTheReference", "no case is judged FAILED or BROKEN", every_op, Sizes::kSmall, about, check};
}

}  // namespace backgauge
