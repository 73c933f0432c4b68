// SPDX-License-Identifier: Apache-2.0
// Values in double <-> elements of a dtype in memory. The one place where a value meets its storage type.
#pragma once

#include <cstdint>
#include <span>

#include "reference/contract/dtypes.h"

namespace backgauge {

// Rounds once, to nearest even; int64 must be whole. `bytes` holds values.size() elements, at any alignment.
void encode(backgauge_dtype dtype, std::span<const double> values, void* bytes);

// Exact for floating-point dtypes, and for int64 up to 2^53.
void decode(backgauge_dtype dtype, const void* bytes, std::span<double> values);

// encode and decode: the nearest value of the dtype.
double round_to(backgauge_dtype dtype, double value);

}  // namespace backgauge
