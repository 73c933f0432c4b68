// SPDX-License-Identifier: Apache-2.0
// Few cases that meet many conditions on two and three sizes at once.
#pragma once

#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/campaign/settings/settings.h"
#include "properties/case/line/case.h"

namespace backgauge {

// The shares of the legal pairs and triples of conditions that a tier must meet.
struct JointAmount {
  double pairs = 0, triples = 0;
};

// What the gate meets. 99 % of the triples took 30 % more of the oracle's time than 98 %.
inline constexpr JointAmount kJointOfTheGate{.pairs = 0.99, .triples = 0.985};

// Adds to what the cases `had` meet already. Out of cases drawn from the mixture of sizes, the one comes next that
// meets most combinations for its cost; first until enough pairs are met, then until enough triples are.
std::vector<Case> joint_sizes(backgauge_op op, const Dtypes& dtypes, const JointAmount& amount,
                              const std::vector<Case>& had, Draws& draws);

}  // namespace backgauge
