// SPDX-License-Identifier: Apache-2.0
// Random choices of the cases of every op.
#pragma once

#include <cstdint>
#include <span>

#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge::plan_ops {

inline constexpr std::int64_t kSteps[] = {1, 2, 3, 5, 7, 13};
inline constexpr std::int64_t kBatches[] = {1, 2, 3, 5, 7, 11, 17};
inline constexpr std::int64_t kInputs[] = {1, 2, 3, 5, 7, 11, 13, 19};
inline constexpr std::int64_t kHidden[] = {1, 2, 3, 5, 7, 11, 13, 17, 23};

// The last value half as often as the others: the cost of a case grows with T * B * H * (I + H), and a few of the
// largest cases would take most of the time.
std::int64_t draw_size(std::span<const std::int64_t> from, Draws& draws);

// A data profile that can prove something with the mode of the case.
DataProfile draw_data_profile(const Case& c, Draws& draws);

}  // namespace backgauge::plan_ops
