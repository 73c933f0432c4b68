// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/math.h"

#include <cstdlib>

namespace backgauge::cuda {
namespace {

const std::string& math() {
  static const std::string word = [] {
    const char* text = std::getenv("BACKGAUGE_CUDA_MATH");
    return std::string(text == nullptr || *text == '\0' ? "fp32" : text);
  }();
  return word;
}

}  // namespace

bool products_take_tf32() { return math() == "tf32"; }

std::string math_refusal() {
  if (math() == "fp32" || math() == "tf32") return "";
  return "BACKGAUGE_CUDA_MATH=" + math() + ": expected fp32 or tf32";
}

}  // namespace backgauge::cuda
