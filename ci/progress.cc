// SPDX-License-Identifier: Apache-2.0
#include "ci/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace backgauge::cli {
namespace {
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRedraw{100};  // often enough to look alive, too seldom to cost anything
}  // namespace

Progress::Progress(std::size_t total) : terminal_(isatty(STDERR_FILENO) == 1), total_(total), start_(Clock::now()) {}
Progress::~Progress() { clear(); }

void Progress::show(std::size_t done, std::size_t failed, const std::string& current) {
  if (!terminal_ || Clock::now() - last_ < kRedraw) return;
  last_ = Clock::now();
  const double elapsed = std::chrono::duration<double>(last_ - start_).count();
  const double left = done > 0 ? elapsed * static_cast<double>(total_ - done) / static_cast<double>(done) : 0;
  fmt::print(stderr, "\r\033[K[{:>5}/{}] {} failed, about {:.0f} s left  {:.70}", done, total_, failed, left, current);
  std::fflush(stderr);
}

void Progress::clear() {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace backgauge::cli
