// SPDX-License-Identifier: Apache-2.0
// Sizes used in training, and sizes at which libraries switch kernels: multiples of 16, 32, 64 and 128, and one off
// them.
#pragma once

#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/campaign/settings/settings.h"
#include "properties/case/line/case.h"

namespace backgauge {

enum class SizeAmount {
  kFew,       // as kFrequent, up to H = 768
  kFrequent,  // one or two sizes of each dimension, with one or two cases each
  kGate,      // all sizes, with as many cases each as take a few tenths of a second
  kEvery      // all sizes with all modes or peepholes and all dtypes
};

// One dimension is large and the others are small, so that a case costs little: H to 2048, I to 2048, B to 1024, T to
// 1025, layers to 12. Some cases have two large dimensions. If an amount does not allow for all modes or peephole
// settings with all dtypes, different ones are chosen for each size, as directions always are.
std::vector<Case> training_sizes(backgauge_op op, const Dtypes& dtypes, SizeAmount amount, Draws& draws);

}  // namespace backgauge
