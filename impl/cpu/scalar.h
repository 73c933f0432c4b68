// SPDX-License-Identifier: Apache-2.0
// Storage types and the type each is computed in: double for double, float for all others.
#pragma once

#include <type_traits>

#include "reference/contract/narrow.h"

namespace backgauge::cpu {

template <class Storage>
using Compute = std::conditional_t<sizeof(Storage) == 2, float, Storage>;

// Whether results lie in memory as they are computed; otherwise they are rounded on their way out.
template <class Storage>
inline constexpr bool kStoredAsComputed = std::is_same_v<Storage, Compute<Storage>>;

inline float wide(Half value) { return static_cast<float>(value); }
inline float wide(Bfloat16 value) { return static_cast<float>(value); }
inline float wide(float value) { return value; }
inline double wide(double value) { return value; }

// The multiply-adds that make one more thread worth its start: that takes some 10 us, in which a core does about 2^18.
inline constexpr double kWorkPerThread = 1 << 18;

}  // namespace backgauge::cpu
