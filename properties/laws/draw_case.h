// SPDX-License-Identifier: Apache-2.0
// Random cases for laws: over dims, flags, data class and seed, never over values.
#pragma once

#include <cstdint>

#include "properties/laws/law.h"

namespace backgauge {

// A legal case of a gradient op, a function of `seed`. Half of them are of the class that has no special values.
Case draw_case(backgauge_op op, Sizes sizes, std::uint64_t seed);

}  // namespace backgauge
