// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/float_environment.h"

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace backgauge {
namespace {

// MXCSR: bit 6 DAZ, 7..12 masks of traps, 13..14 rounding, 15 FTZ. The lower bits are flags, which arithmetic may set.
constexpr std::uint32_t kDaz = 1u << 6, kTraps = 0x3fu << 7, kFtz = 1u << 15, kControl = 0xffc0;
constexpr std::uint16_t kX87Precision = 0x300, kX87Traps = 0x3f;
// The tag word as fnstenv stores it: two bits per register, 11 if it is empty.
struct X87Environment {
  std::uint16_t control, reserved0, status, reserved1, tags, reserved2;
  std::uint32_t pointers[4];
};
constexpr std::uint16_t kX87Empty = 0xffff;

// FPCR: what its bits do when they are set. The rounding mode, bits 22 and 23, is that of <cfenv>.
struct ArmControl {
  std::uint64_t bits;
  const char* what;
};
constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }
constexpr ArmControl kArmControls[] = {
    {bit(24), "flushing of denormal results, denormal operands as zero"},  // FZ
    {bit(0), "denormal operands as zero"},                                 // FIZ
    {bit(19), "flushing of denormals of half"},                            // FZ16
    {bit(26), "alternative format of half"},                               // AHP
    {bit(25), "default NaNs"},                                             // DN
    {bit(1) | bit(2), "alternate handling"},                               // AH, NEP
    {bit(8) | bit(9) | bit(10) | bit(11) | bit(12) | bit(15), "traps"},    // IOE .. IXE, IDE
};

const char* rounding_word(int rounding) {
  switch (rounding) {
    case FE_TONEAREST: return "to nearest";
    case FE_UPWARD: return "upward";
    case FE_DOWNWARD: return "downward";
    case FE_TOWARDZERO: return "toward zero";
    default: return "in an unknown direction";
  }
}

}  // namespace

FloatEnvironment FloatEnvironment::now() {
  FloatEnvironment environment;
  environment.rounding_ = std::fegetround();
#if defined(__x86_64__)
  environment.sse_ = _mm_getcsr() & kControl;
  X87Environment x87{};
  asm volatile("fnstenv %0\n\tfldenv %0" : "+m"(x87));  // fnstenv masks all traps, so the environment is loaded again
  environment.x87_ = x87.control;
  environment.x87_in_use_ = x87.tags != kX87Empty;
#elif defined(__aarch64__)
  asm volatile("mrs %0, fpcr" : "=r"(environment.arm_));
#endif
  return environment;
}

void FloatEnvironment::restore() const {
#if defined(__x86_64__)
  _mm_setcsr((_mm_getcsr() & ~kControl) | sse_);
  asm volatile("fninit\n\tfldcw %0" : : "m"(x87_));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(arm_));
#else
  std::fesetround(rounding_);
#endif
}

std::string FloatEnvironment::changes(const FloatEnvironment& later) const {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  const std::uint32_t sse = sse_ ^ later.sse_;
  const auto x87 = static_cast<std::uint16_t>(x87_ ^ later.x87_);
  const std::uint64_t arm = arm_ ^ later.arm_;
  if (rounding_ != later.rounding_) add(std::string("rounding ") + rounding_word(later.rounding_));
  if ((sse & kFtz) != 0) add("flushing of denormal results");
  if ((sse & kDaz) != 0) add("denormal operands as zero");
  if ((sse & kTraps) != 0 || (x87 & kX87Traps) != 0) add("traps");
  if ((x87 & kX87Precision) != 0) add("precision of x87");
  if (later.x87_in_use_ && !x87_in_use_) add("registers of x87 or MMX in use");
  for (const ArmControl& control : kArmControls) {
    if ((arm & control.bits) != 0) add(control.what);
  }
  if (text.empty() && (sse != 0 || x87 != 0 || arm != 0)) add("control bits");
  return text;
}

}  // namespace backgauge
