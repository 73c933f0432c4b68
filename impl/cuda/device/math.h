// SPDX-License-Identifier: Apache-2.0
// What BACKGAUGE_CUDA_MATH asks for: words with commas between them, each of which narrows operands of products.
//   tf32     those that are float, to 11 significant bits
//   3xtf32   those that are float, to two parts of 11 significant bits each: three products (operand.h)
//   fp16     half calls keep the operands of their products in half; otherwise such a call is made of floats
// Without a word nothing is narrowed. Read once.
#pragma once

#include <string>

namespace backgauge::cuda {

enum class FloatProducts { kAsTheyAre, kTf32, kThreeTf32 };

struct Math {
  FloatProducts floats = FloatProducts::kAsTheyAre;
  bool half_operands = false;

  // Whether what a product reads of a float has no more than 11 significant bits.
  bool takes_tf32() const { return floats != FloatProducts::kAsTheyAre; }
};

const Math& math();

// ", ..." for the version of the implementation; "" without a word.
std::string math_text();

// What is wrong with the variable, or "".
const std::string& math_refusal();

}  // namespace backgauge::cuda
