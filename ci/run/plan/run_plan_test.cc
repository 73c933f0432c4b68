// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/run_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "properties/judge/runner/refusals.h"

namespace backgauge::cli {
namespace {

using Kinds = std::map<std::pair<backgauge_op, backgauge_dtype>, std::set<std::string>>;

TEST(RunPlan, SmokeHasEveryKindOfMalformedCall) {
  for (const std::uint64_t seed : {1, 2, 12345}) {
    Kinds all, planned;
    for (const Case& c : plan_of_tier("smoke", seed, "").cases) {
      if (c.data != DataProfile::kMalformed) continue;
      planned[{c.op, c.dtype}].insert(malformed_kind(malformed_of_case(c.op, c.dtype, c.seed)));
    }
    for (const auto& [of, kinds] : planned) {
      const auto& [op, dtype] = of;
      for (std::uint64_t k = 0; k < malformed_case_count(op, dtype); ++k) {
        all[of].insert(malformed_kind(malformed_of_case(op, dtype, k)));
      }
      EXPECT_GT(all[of].size(), 20u);
    }
    EXPECT_EQ(planned, all) << seed;
  }
}

}  // namespace
}  // namespace backgauge::cli
