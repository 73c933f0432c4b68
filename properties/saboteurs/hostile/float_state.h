// SPDX-License-Identifier: Apache-2.0
// The processor state that a function may leave changed in its thread.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace backgauge::saboteurs {

inline void leave_rounding_upward() { std::fesetround(FE_UPWARD); }

// Other processors than x86 have no such state that C++ can set: the rounding direction is used there instead.
inline void leave_flushing() {
#if defined(__x86_64__)
  constexpr unsigned kFlush = 0x8040;  // FTZ and DAZ
  _mm_setcsr(_mm_getcsr() | kFlush);
#else
  std::fesetround(FE_DOWNWARD);
#endif
}

// MMX code without emms: the next long double is a NaN.
inline void leave_mmx() {
#if defined(__x86_64__)
  asm volatile("pxor %%mm0, %%mm0" ::: "memory");
#else
  std::fesetround(FE_DOWNWARD);
#endif
}

inline void leave_x87_stack() {
#if defined(__x86_64__)
  asm volatile("fld1" ::: "memory");
#else
  std::fesetround(FE_DOWNWARD);
#endif
}

}  // namespace backgauge::saboteurs
