// SPDX-License-Identifier: Apache-2.0
// Values in double <-> elements of a dtype in memory. The one place where a value meets its storage type.
#pragma once

#include <cstdint>
#include <span>

#include "reference/contract/backgauge.h"

namespace backgauge {

// Rounds once, to nearest even; int64 must be whole. `bytes` holds values.size() elements, at any alignment.
void encode(backgauge_dtype dtype, std::span<const double> values, void* bytes);

// Exact for half, float32, float64, and int64 up to 2^53.
void decode(backgauge_dtype dtype, const void* bytes, std::span<double> values);

// encode and decode: the nearest value of the dtype.
double round_to(backgauge_dtype dtype, double value);

// Facts of a dtype: unit roundoff, least normal number, least positive number, largest finite number.
struct FloatFormat {
  double unit_roundoff, least_normal, least_positive, largest;
};
FloatFormat float_format(backgauge_dtype dtype);

}  // namespace backgauge
