// SPDX-License-Identifier: Apache-2.0
// Turns on the processor's flushing of subnormal numbers (FTZ and DAZ) for the lifetime of an object.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace backgauge::saboteurs {

class FlushSubnormals {
 public:
  // forget: the flags stay set afterwards, as a fault.
  FlushSubnormals([[maybe_unused]] bool on, [[maybe_unused]] bool forget) {
#if defined(__SSE2__)
    before_ = _mm_getcsr();
    restore_ = !forget;
    if (on || forget) _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero);
#endif
  }
  ~FlushSubnormals() {
#if defined(__SSE2__)
    if (restore_) _mm_setcsr(before_);
#endif
  }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

#if defined(__SSE2__)
 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  unsigned before_ = 0;
  bool restore_ = true;
#endif
};

}  // namespace backgauge::saboteurs
