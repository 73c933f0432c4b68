// SPDX-License-Identifier: Apache-2.0
// Measures from outside what a process uses.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "properties/judge/sandbox/descriptor.h"

namespace backgauge {

struct Consumption {
  std::uint64_t held_bytes = 0;  // in memory, and in files in memory that it has open
  double cpu_seconds = 0;        // of all its threads, since it began
};

// Zeros if the process has ended.
Consumption consumption_of(pid_t process);

// How many of its threads but the first run, or would if there were a processor for them.
int running_threads(pid_t process);

// The time in which a process slept or ran. Time in which it only waited for a processor, as it does most of the time
// on a machine with more work than processors, does not count: what is late then is the machine.
class TimeOfItsOwn {
 public:
  explicit TimeOfItsOwn(pid_t process);

  // Since the construction. To be called often: whether the process waits is looked up now, for the time since the last
  // call.
  std::chrono::duration<double> passed();

 private:
  pid_t process_;
  std::chrono::steady_clock::time_point last_;
  double last_cpu_seconds_;
  std::chrono::duration<double> passed_{0};
};

// How long two threads, the calling one and the first of a process, have waited for a processor: as the kernel counts
// it, so that neither can change it.
class TimeInQueues {
 public:
  explicit TimeInQueues(pid_t process);
  double seconds() const;

 private:
  Descriptor own_, other_;
};

// How long a process has run, as the kernel counts it: all of its threads, or the first.
class TimeOnProcessors {
 public:
  TimeOnProcessors(pid_t process, bool all_threads);

  // To be asked when the first thread is about to sleep: of one that runs, the kernel counts the last milliseconds
  // late.
  double seconds_when_it_sleeps() const;

 private:
  const pid_t process_;
  const bool all_threads_;
  Descriptor first_;
};

}  // namespace backgauge
