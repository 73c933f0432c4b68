// SPDX-License-Identifier: Apache-2.0
// What the calling thread's floating-point unit is told: rounding, denormals, traps, the precision of x87; and whether
// a register of x87 or MMX is in use, which on return none may be: the next long double would be a NaN. A caller finds
// it as it was; oracle and comparison rely on it.
#pragma once

#include <cstdint>
#include <string>

namespace backgauge {

class FloatEnvironment {
 public:
  static FloatEnvironment now();
  void restore() const;

  // What a later one has that this one has not: "rounds upward, flushes denormal results to zero"; "" if nothing.
  std::string changes(const FloatEnvironment& later) const;

 private:
  int rounding_ = 0;       // of <cfenv>
  std::uint32_t sse_ = 0;  // control bits of MXCSR
  std::uint16_t x87_ = 0;  // control word
  bool x87_in_use_ = false;
  std::uint64_t arm_ = 0;  // FPCR
};

}  // namespace backgauge
