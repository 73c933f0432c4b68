// SPDX-License-Identifier: Apache-2.0
// Whether a sample was disturbed by others: something else was runnable just before it, or the timed process lost a CPU
// during it (involuntary context switches, time stolen by the hypervisor).
#pragma once

#include <chrono>
#include <cstdint>

namespace backgauge {

class InterferenceMonitor {
 public:
  // Of this process (0) and, if the work is done by another one, of that.
  explicit InterferenceMonitor(int other_process = 0) : other_process_(other_process) {}

  // Waits until nothing else is runnable, not longer than `patience`.
  void open(std::chrono::milliseconds patience);

  // Begins to watch.
  void watch() { before_ = now(); }

  // Whether everything was quiet when it opened, and since it watches. One switch is forgiven: the timer of the machine
  // itself costs that.
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
