// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM end a run after the cases in flight, so that everything written is whole. A second one kills.
#pragma once

namespace backgauge::cli {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();

}  // namespace backgauge::cli
