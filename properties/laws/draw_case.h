// SPDX-License-Identifier: Apache-2.0
// Random cases for laws: sizes, flags, data profile and seed are drawn, never values.
#pragma once

#include <cstdint>

#include "properties/laws/law.h"

namespace backgauge {

// A legal case of a gradient op, a function of `seed`. Half of them have the data profile without special values.
Case draw_case(backgauge_op op, Sizes sizes, std::uint64_t seed);

}  // namespace backgauge
