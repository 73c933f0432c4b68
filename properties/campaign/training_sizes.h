// SPDX-License-Identifier: Apache-2.0
// Sizes that people train with, and where libraries begin another kernel: multiples of 16, 32, 64 and 128 and one off.
#pragma once

#include <vector>

#include "properties/campaign/draws.h"
#include "properties/case/case.h"

namespace backgauge {

enum class SizeAmount {
  kFrequent,  // one size of each dimension, or two
  kGate,      // all sizes whose weights are below 2^22 elements, about two seconds of the oracle
  kEvery
};

// One dimension large and the others small, so that a case costs little: H to 2048, I to 2048, B to 1024, T to 1025,
// layers to 8; and some with two large ones. Every size has every mode or peephole where that is cheap, and each of
// them every dtype where that is; elsewhere they take turns, as directions do.
std::vector<Case> training_sizes(backgauge_op op, SizeAmount amount, Draws& draws);

}  // namespace backgauge
