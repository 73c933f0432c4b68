// SPDX-License-Identifier: Apache-2.0
// Code that runs in the signal handler uses only lock-free atomics and write.
#include "ci/run/process/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

namespace backgauge::cli {
namespace {

constexpr std::size_t kMostJobs = 1024;  // as many as --jobs allows

struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<std::size_t> size{0};  // of the line; 0 while it is written
  std::array<char, 192> line{};      // case lines have at most 160 characters
};
std::array<Slot, kMostJobs> slots;
thread_local std::size_t my_slot = kMostJobs;

void say(std::string_view text) {
  // A failure to write to stderr cannot be reported anywhere.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void report_crash(int signal_number) {
  const char* name = sigabbrev_np(signal_number);
  say("\nbackgauge: SIG");
  say(name == nullptr ? "?" : name);
  // A thread that the implementation has started has no case: it belongs to one of those that are being judged.
  say(my_slot < kMostJobs ? " while judging\n" : " while judging one of\n");
  for (std::size_t k = 0; k < kMostJobs; ++k) {
    if (slots[k].size.load() == 0 || (my_slot < kMostJobs && my_slot != k)) continue;
    say("  ");
    say({slots[k].line.data(), slots[k].size.load()});
    say("\n");
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void install_crash_report() {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    struct sigaction present {};
    if (sigaction(number, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
    signal(number, report_crash);
  }
}

InFlight::InFlight(const std::string& line) : slot_(0) {
  while (slot_ < kMostJobs && slots[slot_].taken.exchange(true)) ++slot_;
  my_slot = slot_;
  if (slot_ == kMostJobs) return;
  const std::size_t size = std::min(line.size(), slots[slot_].line.size());
  std::memcpy(slots[slot_].line.data(), line.data(), size);
  slots[slot_].size = size;
}

InFlight::~InFlight() {
  my_slot = kMostJobs;
  if (slot_ == kMostJobs) return;
  slots[slot_].size = 0;
  slots[slot_].taken = false;
}

}  // namespace backgauge::cli
