// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: a member's part of an array.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_ELEMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_ELEMENTS_INL_H
#undef BACKGAUGE_CPU_ELEMENTS_INL_H
#else
#define BACKGAUGE_CPU_ELEMENTS_INL_H
#endif
// clang-format on

#include <algorithm>

#include "impl/cpu/kernels/vectors-inl.h"
#include "impl/cpu/machine/threads.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class From, class To>
void convert(const Member& member, const From* from, std::int64_t count, To* to) {
  const Range own = member.share(count);
  convert(from + own.begin, own.end - own.begin, to + own.begin);
}

template <class To>
void fill_zero(const Member& member, std::int64_t count, To* to) {
  const Range own = member.share(count);
  std::fill_n(to + own.begin, own.end - own.begin, To(0.0f));
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
