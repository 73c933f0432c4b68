// SPDX-License-Identifier: Apache-2.0
// Implementations that are wrong only for values with a certain structure, or for a size used in training: every tier
// contains such a case, and the judge detects the error.
#include "properties/saboteurs/testing/occasions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "properties/campaign/plan/campaign.h"
#include "properties/campaign/plan/joint_sizes.h"
#include "properties/campaign/plan/structured_cases.h"
#include "properties/campaign/plan/training_sizes.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/line/shaped_problem.h"
#include "properties/judge/judge.h"
#include "properties/saboteurs/variant.h"

namespace backgauge {
namespace {

using saboteurs::Occasional;

const std::vector<backgauge_op> kOps{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                                     BACKGAUGE_CUDNN_RNN_BACKPROP};

const std::vector<Occasional>& occasions() {
  return saboteurs::occasional_implementations(*saboteurs::find_implementation("forward_sums"));
}

// The oracle's work grows in this way; expensive cases come last.
double work(const Case& c) {
  return static_cast<double>(c.H) * static_cast<double>(c.I + c.H + 16) * static_cast<double>(c.layers) +
         static_cast<double>(c.T * c.B * c.layers);
}

// For these only the sizes are checked: judging their values would take as long as all others together.
constexpr double kDear = 2e4;

// The cases in which each occasion occurs, by id and op.
using Met = std::map<std::pair<std::string, backgauge_op>, std::vector<Case>>;
Met met_in(std::vector<Case> cases) {
  std::ranges::stable_sort(cases, {}, work);
  Met out;
  for (const Case& c : cases) {
    const Problem problem = work(c) < kDear ? fill(c).problem : shaped_problem(c);
    const saboteurs::Scene scene = saboteurs::scene_of(problem);
    for (const Occasional& each : occasions()) {
      if (each.op == c.op && each.is_met(scene)) out[{each.id, each.op}].push_back(c);
    }
  }
  return out;
}

std::vector<Case> cases_of_the_gate() {
  std::vector<Case> out;
  for (const backgauge_op op : kOps) {
    Draws draws(1, "test");
    for (const Dtypes& dtypes : dtype_groups(op)) {
      std::ranges::move(structured_cases(op, dtypes, true, draws), std::back_inserter(out));
      std::ranges::move(training_sizes(op, dtypes, SizeAmount::kGate, draws), std::back_inserter(out));
      std::ranges::move(joint_sizes(op, dtypes, kJointOfTheGate, {}, draws), std::back_inserter(out));
    }
  }
  return out;
}

bool is_caught(const Occasional& each, const Case& c) {
  const Filled filled = fill(c);
  return judge_case(each.table, filled.problem, filled.facts, {.seed = c.seed}).status == Status::kFailed;
}

TEST(Occasions, TheGateComesToEachAndCatchesIt) {
  const Met met = met_in(cases_of_the_gate());
  EXPECT_GT(occasions().size(), 120u);
  for (const Occasional& each : occasions()) {
    const auto found = met.find({each.id, each.op});
    const std::string name = std::string(each.id) + " " + std::string(find_op(each.op)->word) + ": " + each.what;
    if (found == met.end()) {
      ADD_FAILURE() << "never met: " << name;
      continue;
    }
    if (work(found->second.front()) < kDear) {
      EXPECT_GE(found->second.size(), 2u) << name;
    }
    EXPECT_TRUE(std::ranges::any_of(found->second, [&](const Case& c) { return is_caught(each, c); })) << name;
  }
}

// Occasions that are frequent in programs.
TEST(Occasions, ASmokeTierCatchesTheFrequentOnes) {
  const Met met = met_in(plan({.tier = Tier::kSmoke, .seed = 1, .ops = kOps}));
  for (const Occasional& each : occasions()) {
    constexpr std::string_view kRare[] = {"H512_half",
                                          "H650",
                                          "H1024",
                                          "H2048",
                                          "H_odd_tile",
                                          "I_odd_tile",
                                          "T64_gru_bi",
                                          "T64_tanh_double",
                                          "B128_half",
                                          "B_odd_tile",
                                          "B20",
                                          "layers5_relu",
                                          "layers8_bi",
                                          "wide_and_tall",
                                          "long_and_wide",
                                          "many_rows",
                                          "rows_odd_tile",
                                          "odd_tiles",
                                          "tall_cell",
                                          "deep_both_ways",
                                          "aligned_64",
                                          "aligned_gru_half",
                                          "aligned_bfloat16"};
    if (std::ranges::find(kRare, each.id) != std::end(kRare)) continue;
    const auto found = met.find({each.id, each.op});
    const std::string name = std::string(each.id) + " " + std::string(find_op(each.op)->word) + ": " + each.what;
    if (found == met.end()) {
      ADD_FAILURE() << "never met: " << name;
      continue;
    }
    EXPECT_TRUE(std::ranges::any_of(found->second, [&](const Case& c) { return is_caught(each, c); })) << name;
  }
}

TEST(Occasions, AreRightElsewhere) {
  for (const Occasional& each : occasions()) {
    Case c{.op = each.op, .T = 2, .B = 3, .I = 4, .H = 5, .seq_len_max = 2, .seed = 17};
    if (each.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) c.T = c.seq_len_max = 1;
    const Filled filled = fill(c);
    EXPECT_EQ(judge_case(each.table, filled.problem, filled.facts, {.seed = c.seed}).status, Status::kPassed)
        << each.id;
  }
}

}  // namespace
}  // namespace backgauge
