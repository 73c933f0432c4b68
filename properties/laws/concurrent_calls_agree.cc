// SPDX-License-Identifier: Apache-2.0
// Law: Four threads that call at the same time, two of them with each of two problems, get the bits that each call
// gives alone.
// Kind: exact.
// Catches: state shared between calls, results or scratch in static memory, buffers cached by size or by address,
// tables filled on first use without a lock.
#include "properties/judge/compare/claims.h"
#include "properties/judge/runner/together.h"
#include "properties/laws/answer.h"
#include "properties/laws/law.h"

namespace backgauge {
namespace concurrent_calls_agree_law {
namespace {

constexpr std::size_t kThreads = 4;

// For one case. A law is checked on a hundred cases, so few overlaps of each are enough.
constexpr TogetherEnd kEnd{.overlaps = 4, .time = {}};

Case about(Case c) { return c; }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const Claims claims = *claims_of(implementation, c.op);
  if (claims.determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC)
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  Case other = c;
  other.seed ^= 1;
  const Problem problems[] = {filled(c).problem, filled(other).problem};
  std::vector<TogetherCall> calls;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    TogetherCall& call = calls.emplace_back();
    call.problem = problems[thread % 2];
    call.options.placement = Placement(c.seed + thread);
  }
  std::vector<CallMemory> memories;
  const Together together = call_together(implementation, calls, memories, kEnd);
  if (!together.fault.empty()) return {Outcome::kBroken, "during concurrent calls: " + together.fault};
  return {Outcome::kHolds, ""};
}

}  // namespace
}  // namespace concurrent_calls_agree_law

Law concurrent_calls_agree() {
  using namespace concurrent_calls_agree_law;
  return {"M22",    "ConcurrentCallsAgree", "calls made at the same time give the bits that each gives alone",
          every_op, Sizes::kSmall,          about,
          check};
}

}  // namespace backgauge
