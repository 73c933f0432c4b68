// SPDX-License-Identifier: Apache-2.0
// The 16-bit formats, IEEE binary16 and bfloat16, as storage types, with rounding to them. Callers do their arithmetic
// in float.
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

struct Bfloat16 {
  std::uint16_t bits = 0;

  Bfloat16() = default;
  explicit Bfloat16(float value) : bits(backgauge_float_to_bfloat16(value)) {}
  explicit operator float() const { return backgauge_bfloat16_to_float(bits); }
  explicit operator double() const { return backgauge_bfloat16_to_float(bits); }
};
static_assert(sizeof(Bfloat16) == 2);

// The Half or Bfloat16 nearest to a double, ties to even. Rounding to float first, with round-to-odd, does not change
// the result of the second rounding.
template <class Narrow>
Narrow narrowed(double value) {
  float nearest = static_cast<float>(value);
  if (std::isfinite(nearest) && static_cast<double>(nearest) != value) {
    std::uint32_t bits;
    std::memcpy(&bits, &nearest, sizeof bits);
    if ((bits & 1u) == 0) {  // round to odd: the neighbour on the other side of `value`
      const bool away = std::fabs(value) > std::fabs(static_cast<double>(nearest));
      bits = away ? bits + 1 : bits - 1;
      std::memcpy(&nearest, &bits, sizeof bits);
    }
  }
  return Narrow(nearest);
}

}  // namespace backgauge
