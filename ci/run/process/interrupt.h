// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM end a run after the cases in flight, so that all files are complete. A second signal kills it.
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
