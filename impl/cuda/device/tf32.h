// SPDX-License-Identifier: Apache-2.0
// TF32: floats with 11 significant bits, the precision at which tensor cores read floats.
#pragma once

#include <cstdint>
#include <cstring>

#include "impl/cuda/device/kernel.h"

namespace backgauge::cuda {

// Rounds to nearest, ties to even. Infinity above the largest TF32 number, 0x1.ffcp127; non-finite values do not
// change.
BACKGAUGE_BOTH float to_tf32(float value) {
  constexpr std::uint32_t kDropped = 13, kInfinity = 0x7f800000;
  std::uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & kInfinity) == kInfinity) return value;
  bits += ((1u << (kDropped - 1)) - 1) + ((bits >> kDropped) & 1u);
  bits &= ~((1u << kDropped) - 1);
  memcpy(&value, &bits, sizeof bits);
  return value;
}

}  // namespace backgauge::cuda
