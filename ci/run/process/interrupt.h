// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM end every subcommand within two seconds with exit code 130, whatever it is doing or waiting for,
// and all processes that it has started.
//
// A subcommand with an InterruptGuard ends by itself, after the cases in flight, so that its files are complete. What
// still runs after half a second is ended: first the processes that it waits for, then the subcommand itself. Without a
// guard, and with a second signal, all of that happens at once.
#pragma once

namespace backgauge::cli {

// For main(), once, before there are other threads.
void answer_interrupts();

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();

// Whether processes have been ended in which implementations may have been running: verdicts since then say nothing.
bool cut_short();

}  // namespace backgauge::cli
