// SPDX-License-Identifier: Apache-2.0
// Law: The same call gives the same bits, wherever its tensors lie in memory and whatever the workspace holds; also
// on 1, 2 and 7 threads, if BITWISE is claimed.
// Kind: exact.
// Catches: workspace or outputs read before they are written, reliance on alignment, sums whose order depends on
// threads, races, state kept between calls.
#include "properties/judge/compare/run_verdicts.h"
#include "properties/laws/answer.h"
#include "properties/laws/law.h"

namespace backgauge {
namespace repeats_bitwise_law {
namespace {

Case about(Case c) { return c; }

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const Claims claims = *claims_of(implementation, c.op);
  if (claims.determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC)
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  const Filled inputs = filled(c);
  RunOptions options;
  options.placement = Placement(c.seed);
  const Answer first = answer(implementation, inputs.problem, options);
  const auto differs = [&](const char* how) -> std::string {
    const Answer again = answer(implementation, inputs.problem, options);
    if (again.problem.keep != first.problem.keep) return std::string(how) + ": a different dropout mask";
    const std::string difference = first_difference(first.outputs, again.outputs);
    return difference.empty() ? "" : std::string(how) + ": " + difference;
  };
  options.placement = options.placement.opposite();
  options.workspace_fill = RunOptions::kFiniteFill;
  if (std::string text = differs("placed elsewhere"); !text.empty()) return {Outcome::kBroken, text};
  if (claims.determinism[c.dtype] != BACKGAUGE_BITWISE) return {Outcome::kHolds, ""};
  options.num_threads = 2;
  if (std::string text = differs("on 2 threads"); !text.empty()) return {Outcome::kBroken, text};
  options.num_threads = 7;
  if (std::string text = differs("on 7 threads"); !text.empty()) return {Outcome::kBroken, text};
  return {Outcome::kHolds, ""};
}

}  // namespace
}  // namespace repeats_bitwise_law

Law repeats_bitwise() {
  using namespace repeats_bitwise_law;
  return {"M21",
          "RepeatsBitwise",
          "the same call gives the same bits, wherever its tensors lie and on any number of threads",
          every_op,
          Sizes::kWide,
          about,
          check};
}

}  // namespace backgauge
