// SPDX-License-Identifier: Apache-2.0
// IEEE binary16 as a storage type, and its one rounding. Callers do their arithmetic in float.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "reference/contract/backgauge.h"

namespace backgauge {

struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(backgauge_float_to_half(value)) {}
  explicit operator float() const { return backgauge_half_to_float(bits); }
  explicit operator double() const { return backgauge_half_to_float(bits); }
};
static_assert(sizeof(Half) == 2);

// The half nearest to a double, ties to even: rounding to float first, to odd, keeps the second rounding innocent.
inline Half half_from_double(double value) {
  float nearest = static_cast<float>(value);
  if (std::isfinite(nearest) && static_cast<double>(nearest) != value) {
    std::uint32_t bits;
    std::memcpy(&bits, &nearest, sizeof bits);
    if ((bits & 1u) == 0) {  // to odd: the neighbour on the other side of `value`
      const bool away = std::fabs(value) > std::fabs(static_cast<double>(nearest));
      bits = away ? bits + 1 : bits - 1;
      std::memcpy(&nearest, &bits, sizeof bits);
    }
  }
  return Half(nearest);
}

}  // namespace backgauge
