// SPDX-License-Identifier: Apache-2.0
// Sizes that people train with, and where libraries begin another kernel: multiples of 16, 32, 64 and 128 and one off.
#pragma once

#include <vector>

#include "properties/campaign/draws.h"
#include "properties/case/case.h"

namespace backgauge {

enum class SizeAmount {
  kFrequent,  // one size of each dimension, or two, with a case or two each
  kGate,      // all sizes, with as many cases each as some tenths of a second pay
  kEvery      // all sizes with all modes or peepholes and all dtypes
};

// One dimension large and the others small, so that a case costs little: H to 2048, I to 2048, B to 1024, T to 1025,
// layers to 8; and some with two large ones. Where an amount cannot pay all modes or peepholes with all dtypes, those
// it has differ from size to size, as directions always do.
std::vector<Case> training_sizes(backgauge_op op, SizeAmount amount, Draws& draws);

}  // namespace backgauge
