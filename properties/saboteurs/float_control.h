// SPDX-License-Identifier: Apache-2.0
// The control word of the processor's vector arithmetic, which belongs to the thread: MXCSR, or FPCR on ARM.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace backgauge::saboteurs {

#if defined(__x86_64__)
inline std::uint64_t float_control() { return _mm_getcsr(); }
inline void set_float_control(std::uint64_t word) { _mm_setcsr(static_cast<unsigned>(word)); }
inline constexpr std::uint64_t kFlushSubnormals = 0x8040;  // FTZ and DAZ
#elif defined(__aarch64__)
inline std::uint64_t float_control() {
  std::uint64_t word = 0;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
inline void set_float_control(std::uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
inline constexpr std::uint64_t kFlushSubnormals = 1 << 24;           // FZ: operands and results
inline constexpr std::uint64_t kAlternativeHalfPrecision = 1 << 26;  // AHP: no infinity and no NaN in half
inline constexpr std::uint64_t kDefaultNan = 1 << 25;                // DN: every NaN is the same one
#else
#error "the control word of this processor's arithmetic is unknown here"
#endif

}  // namespace backgauge::saboteurs
