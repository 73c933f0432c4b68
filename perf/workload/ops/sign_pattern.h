// SPDX-License-Identifier: Apache-2.0
// Which elements of a tensor change their signs (signs.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge {

using Flips = std::vector<std::uint8_t>;  // 1: the sign changes

// Element k changes if one of rows[k / columns.size() % rows.size()] and columns[k % columns.size()] is 1. Without
// rows, those of all rows are 0; without columns no element changes.
struct SignPattern {
  Flips rows{}, columns{};
};

// The pattern of each input and output of an op, apart from the sign of all upstream gradients. Throws std::logic_error
// for a role that the op does not expect.
using SignPatterns = std::function<SignPattern(const TensorSpec&)>;

Flips draw_flips(std::uint64_t seed, std::string_view what, std::int64_t count);
Flips no_flips(std::int64_t count);
Flips joined(Flips a, const Flips& b);

[[noreturn]] void refuse_signs(const TensorSpec& tensor);

}  // namespace backgauge
