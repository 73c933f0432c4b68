// SPDX-License-Identifier: Apache-2.0
// BACKGAUGE_CUDA_MATH: comma-separated words, each of which narrows operands of products.
//   tf32     float operands are rounded to 11 significant bits
//   3xtf32   float operands are split into two parts of 11 significant bits: three products (operand.h)
//   fp16     half calls keep the operands of their products in half; otherwise they are computed in float
// Without words, nothing is narrowed. Read once.
#pragma once

#include <string>

namespace backgauge::cuda {

enum class FloatProducts { kAsTheyAre, kTf32, kThreeTf32 };

struct Math {
  FloatProducts floats = FloatProducts::kAsTheyAre;
  bool half_operands = false;

  // Whether products read at most 11 significant bits of a float.
  bool takes_tf32() const { return floats != FloatProducts::kAsTheyAre; }
};

const Math& math();

// ", ..." for the version of the implementation; "" without a word.
std::string math_text();

// What is wrong with the value of the variable, or "".
const std::string& math_refusal();

}  // namespace backgauge::cuda
