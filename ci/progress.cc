// SPDX-License-Identifier: Apache-2.0
#include "ci/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace backgauge::cli {
namespace {
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRedraw{100};  // often enough to look alive, too seldom to cost anything

// A longer line would wrap, and could not be redrawn.
std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

}  // namespace

Progress::Progress(std::size_t total) : terminal_(isatty(STDERR_FILENO) == 1), total_(total), start_(Clock::now()) {}
Progress::~Progress() { clear(); }

void Progress::show(std::size_t done, std::size_t failed, const std::string& current) {
  if (!terminal_ || Clock::now() - last_ < kRedraw) return;
  last_ = Clock::now();
  const double elapsed = std::chrono::duration<double>(last_ - start_).count();
  const double left = done > 0 ? elapsed * static_cast<double>(total_ - done) / static_cast<double>(done) : 0;
  const std::string line =
      fmt::format("[{}/{}] {} failed, about {:.0f} s left  {}", done, total_, failed, left, current);
  fmt::print(stderr, "\r\033[K{:.{}}", line, columns());
  std::fflush(stderr);
}

void Progress::show_phase(const std::string& phase, std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  if (!terminal_ || Clock::now() - last_ < kRedraw) return;
  last_ = Clock::now();
  fmt::print(stderr, "\r\033[K{:.{}}", fmt::format("[{}/{}] {}", done, total, phase), columns());
  std::fflush(stderr);
}

void Progress::clear() {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace backgauge::cli
