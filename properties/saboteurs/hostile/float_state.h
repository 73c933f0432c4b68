// SPDX-License-Identifier: Apache-2.0
// The processor state that a function may leave changed in its thread. ARM has no registers that x87 and MMX share;
// there the two misbehaviours that leave these in use leave the two control bits that change later results as quietly.
#pragma once

#include <cfenv>

#include "properties/saboteurs/float_control.h"

namespace backgauge::saboteurs {

inline void leave_rounding_upward() { std::fesetround(FE_UPWARD); }

inline void leave_flushing() { set_float_control(float_control() | kFlushSubnormals); }

#if defined(__aarch64__)
inline constexpr const char* kLeavesMmx = "leaves every NaN to become the default NaN (ARM has no MMX)";
inline constexpr const char* kLeavesX87 = "leaves half in ARM's alternative format (ARM has no x87)";
inline void leave_mmx() { set_float_control(float_control() | kDefaultNan); }
inline void leave_x87_stack() { set_float_control(float_control() | kAlternativeHalfPrecision); }
#else
inline constexpr const char* kLeavesMmx = "leaves an MMX register in use";
inline constexpr const char* kLeavesX87 = "leaves a value on the x87 stack";
// MMX code without emms: the next long double is a NaN.
inline void leave_mmx() { asm volatile("pxor %%mm0, %%mm0" ::: "memory"); }
inline void leave_x87_stack() { asm volatile("fld1" ::: "memory"); }
#endif

}  // namespace backgauge::saboteurs
