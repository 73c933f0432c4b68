// SPDX-License-Identifier: Apache-2.0
// Measures what the calls of a sample use: time by the clock, CPU time, how often the calling thread gave up its CPU
// by itself, and, where the machine has counters, instructions and cycles.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace backgauge {

// The sums over several calls. An unknown number is NaN, or -1 for waits.
struct Timing {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double seconds = 0;                                 // by the clock, or on the device
  double cpu_seconds = 0;                             // of all threads of the process in the same interval
  std::int64_t waits = -1;                            // how often the calling thread gave up its CPU to wait
  double instructions = kUnknown, cycles = kUnknown;  // of all threads, in user mode

  void add(const Timing& more);
};

// "", or a message if the calls kept more CPUs busy than num_threads.
std::string too_many_threads(const Timing& timing, int threads);

// What counts the instructions of this process, its later threads included: "hardware" (perf_event_open), "callgrind"
// (the process runs under Valgrind's tool of that name), or "" if nothing does. Opened on the first call, which must
// come before the threads that are to be counted are started. "hardware" has cycles as well.
const std::string& instruction_counter();

// Where callgrind writes: it is started with --callgrind-out-file=<the value of this variable>.%p.
inline constexpr const char* kCallgrindOut = "BACKGAUGE_CALLGRIND_OUT";

// Whether this program can ask callgrind for its counts: it was built with Valgrind's headers.
bool asks_callgrind();

// Whether this machine lets a process count its own instructions: "", or why not.
std::string no_hardware_counter();

// CPU time of all threads of this process so far.
double cpu_seconds_of_this_process();

class Meter {
 public:
  void start();
  Timing stop(double seconds) const;  // since start(); the seconds are the caller's

 private:
  Timing before_;
};

}  // namespace backgauge
