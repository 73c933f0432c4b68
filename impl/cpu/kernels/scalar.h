// SPDX-License-Identifier: Apache-2.0
// Storage types and the type of their computation: double for double, float for all others.
#pragma once

#include <type_traits>

#include "reference/contract/narrow.h"

namespace backgauge::cpu {

template <class Storage>
using Compute = std::conditional_t<sizeof(Storage) == 2, float, Storage>;

// Whether results are stored in the type of the computation; otherwise they are rounded when they are stored.
template <class Storage>
inline constexpr bool kStoredAsComputed = std::is_same_v<Storage, Compute<Storage>>;

inline float wide(Half value) { return static_cast<float>(value); }
inline float wide(Bfloat16 value) { return static_cast<float>(value); }
inline float wide(float value) { return value; }
inline double wide(double value) { return value; }

// The multiply-adds that are worth starting another thread: a start takes some 10 us, in which a core does about 2^18.
inline constexpr double kWorkPerThread = 1 << 18;

}  // namespace backgauge::cpu
