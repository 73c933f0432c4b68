// SPDX-License-Identifier: Apache-2.0
// Turns on the processor's flushing of subnormal numbers for the lifetime of an object.
#pragma once

#include "properties/saboteurs/float_control.h"

namespace backgauge::saboteurs {

class FlushSubnormals {
 public:
  // forget: the flags stay set afterwards, as a fault.
  FlushSubnormals(bool on, bool forget) : before_(float_control()), restore_(!forget) {
    if (on || forget) set_float_control(before_ | kFlushSubnormals);
  }
  ~FlushSubnormals() {
    if (restore_) set_float_control(before_);
  }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  std::uint64_t before_;
  bool restore_;
};

}  // namespace backgauge::saboteurs
