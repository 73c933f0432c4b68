// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of the calling thread: rounding mode, flushing of denormals, traps; on x86-64 the
// precision of x87, and whether a register of x87 or MMX is in use (after a return that would make the next long double
// a NaN); on ARM, which has neither, the other control bits of FPCR: the format of half, default NaNs, alternate
// handling. A function must leave it as it found it, because the oracle and the comparison rely on it. The streaming
// mode and the tiles of SME are not looked at.
#pragma once

#include <cstdint>
#include <string>

namespace backgauge {

class FloatEnvironment {
 public:
  static FloatEnvironment now();
  void restore() const;

  // How a later environment differs: "rounding upward, flushing of denormal results"; "" if it does not.
  std::string changes(const FloatEnvironment& later) const;

 private:
  int rounding_ = 0;       // of <cfenv>
  std::uint32_t sse_ = 0;  // control bits of MXCSR
  std::uint16_t x87_ = 0;  // control word
  bool x87_in_use_ = false;
  std::uint64_t arm_ = 0;  // FPCR
};

}  // namespace backgauge
