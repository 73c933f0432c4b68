// SPDX-License-Identifier: Apache-2.0
// Detects whether a sample was disturbed: something else was runnable just before it, or the timed process lost a CPU
// during it (involuntary context switches, time stolen by the hypervisor).
#pragma once

#include <chrono>
#include <cstdint>

namespace backgauge {

class InterferenceMonitor {
 public:
  // Watches this process, and the process that does the work, if it is another one (0: none).
  explicit InterferenceMonitor(int other_process = 0) : other_process_(other_process) {}

  // Waits until nothing else is runnable, but not longer than `patience`.
  void wait_until_idle(std::chrono::milliseconds patience);

  // Starts the interval that disturbed() reports on.
  void watch() { before_ = now(); }

  // Whether something else was runnable when waiting ended, or the process has lost a CPU since watch(). One switch
  // does not count: the machine's own timer causes it.
  bool disturbed() const;

 private:
  struct Counts {
    std::int64_t switches = 0, stolen = 0;
  };
  Counts now() const;

  int other_process_;
  bool busy_before_ = false;
  Counts before_;
};

}  // namespace backgauge
