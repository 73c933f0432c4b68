// SPDX-License-Identifier: Apache-2.0
// What BACKGAUGE_CUDA_MATH says of float operands of products: fp32 (the default), as they are; tf32, rounded to 11
// significant bits. Read once.
#pragma once

#include <string>

namespace backgauge::cuda {

bool products_take_tf32();

// What is wrong with the variable, or "".
std::string math_refusal();

}  // namespace backgauge::cuda
