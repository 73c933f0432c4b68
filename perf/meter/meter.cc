// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/meter.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#ifdef BACKGAUGE_WITH_VALGRIND
#include <valgrind/callgrind.h>
#endif

namespace backgauge {
namespace {

// Calls of this total time show how many threads work: thread clocks are accurate to a microsecond or better.
constexpr double kTelling = 5e-3;

// Background work of a runtime (a timer, a garbage collector) uses little of a CPU; one thread too many uses a whole
// one, or what the other load of the machine leaves of it.
constexpr double kOnTheSide = 0.5;

int open_counter(std::uint64_t event) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = event;
  wanted.exclude_kernel = 1;  // interrupts do not belong to a call; and counting user mode alone needs no privileges
  wanted.exclude_hv = 1;
  wanted.inherit = 1;
  // If other programs count too, the counters take turns; the kernel then says for how much of the time one ran.
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

double read_counter(int counter) {
  struct {
    std::uint64_t value, enabled, running;
  } now{};
  // A counter that was multiplexed with others has counted only part of the time.
  if (read(counter, &now, sizeof now) != sizeof now || now.running < now.enabled) return Timing::kUnknown;
  return static_cast<double>(now.value);
}

struct Counters {
  int instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS);
  int problem = instructions < 0 ? errno : 0;
  int cycles = instructions < 0 ? -1 : open_counter(PERF_COUNT_HW_CPU_CYCLES);
};

const Counters& counters() {
  static const Counters all;
  return all;
}

bool under_callgrind() {
#ifdef BACKGAUGE_WITH_VALGRIND
  // The variable names the file that the tool writes to; another tool of Valgrind has no such counts.
  return RUNNING_ON_VALGRIND != 0 && std::getenv(kCallgrindOut) != nullptr;
#else
  return false;
#endif
}

#ifdef BACKGAUGE_WITH_VALGRIND
// Callgrind writes its counts since the last zero to <file>.<number>, of which the line "totals: N" is the sum.
double dumped_instructions() {
  static int dumps = 0;
  CALLGRIND_DUMP_STATS;
  const std::string file =
      std::string(std::getenv(kCallgrindOut)) + "." + std::to_string(getpid()) + "." + std::to_string(++dumps);
  std::ifstream in(file);
  double total = Timing::kUnknown;
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kKey = "totals: ";
    if (line.starts_with(kKey)) total = std::atof(line.c_str() + kKey.size());
  }
  unlink(file.c_str());
  return total;
}
#endif

// Waits of this thread alone: the worker has others, which listen to the judge and sleep.
std::int64_t waits() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

double cpu_seconds_of_this_process() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Timing::add(const Timing& more) {
  seconds += more.seconds;
  cpu_seconds += more.cpu_seconds;
  waits = waits < 0 || more.waits < 0 ? -1 : waits + more.waits;
  instructions += more.instructions;
  cycles += more.cycles;
}

std::string too_many_threads(const Timing& timing, int threads) {
  const double busy = timing.cpu_seconds / timing.seconds;
  if (timing.seconds < kTelling || busy < threads + kOnTheSide) return "";
  return fmt::format("keeps {:.1f} CPUs busy with num_threads = {}", busy, threads);
}

const std::string& instruction_counter() {
  static const std::string name = under_callgrind() ? "callgrind" : counters().instructions >= 0 ? "hardware" : "";
  return name;
}

bool asks_callgrind() {
#ifdef BACKGAUGE_WITH_VALGRIND
  return true;
#else
  return false;
#endif
}

std::string no_hardware_counter() {
  return counters().instructions >= 0 ? "" : std::string("perf_event_open: ") + std::strerror(counters().problem);
}

void Meter::start() {
#ifdef BACKGAUGE_WITH_VALGRIND
  // Once, because turning it on or off throws away all code that Valgrind has translated.
  static const bool callgrind = [] {
    if (instruction_counter() == "callgrind") CALLGRIND_START_INSTRUMENTATION;
    return instruction_counter() == "callgrind";
  }();
#endif
  before_.waits = waits();
  if (instruction_counter() == "hardware") {
    before_.instructions = read_counter(counters().instructions);
    before_.cycles = read_counter(counters().cycles);
  }
  before_.cpu_seconds = cpu_seconds_of_this_process();
#ifdef BACKGAUGE_WITH_VALGRIND
  if (callgrind) CALLGRIND_ZERO_STATS;
#endif
}

// The CPU time first: writing the counts takes much of it.
Timing Meter::stop(double seconds) const {
  Timing out;
  out.seconds = seconds;
  out.cpu_seconds = cpu_seconds_of_this_process() - before_.cpu_seconds;
  if (instruction_counter() == "hardware") {
    out.instructions = read_counter(counters().instructions) - before_.instructions;
    out.cycles = read_counter(counters().cycles) - before_.cycles;
  }
#ifdef BACKGAUGE_WITH_VALGRIND
  if (instruction_counter() == "callgrind") out.instructions = dumped_instructions();
#endif
  out.waits = waits() - before_.waits;
  return out;
}

}  // namespace backgauge
