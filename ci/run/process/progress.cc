// SPDX-License-Identifier: Apache-2.0
#include "ci/run/process/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reference/contract/op_spec.h"

namespace backgauge::cli {
namespace {

// On a terminal often enough to show that it runs, and seldom enough to cost nothing; in a log rarely.
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kHeartbeat{10};

// The time left is shown after this time and this share of the work: the first cases, regressions and golden vectors,
// say little about the others.
constexpr std::chrono::seconds kFirstEstimate{2};
constexpr double kFirstShare = 0.01;

// A longer line would wrap, and could not be redrawn.
std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

}  // namespace

double expected_work(const Case& c) {
  // Multiplications in matrix products that take as long as everything else of a small case: in the smoke tier of
  // `plain` a small case took 1 ms, and larger ones 1 ms more for every 10,000.
  constexpr double kProducts = 10'000;
  if (c.data == DataProfile::kMalformed) return 0.1;
  const Extents e = extents_of(c);
  const auto steps = static_cast<double>(c.T * e.L * e.D);
  return 1 + 4 * steps * static_cast<double>(e.B * e.H) * static_cast<double>(e.I + e.H) / kProducts;
}

Progress::Progress(std::size_t total) : Progress(total, stderr, isatty(STDERR_FILENO) == 1, Clock::now) {}

Progress::Progress(std::size_t total, std::FILE* stream, bool terminal, std::function<Clock::time_point()> now)
    : stream_(stream), terminal_(terminal), now_(std::move(now)), total_(total), start_(now_()), last_(start_) {}

Progress::~Progress() { clear(); }

bool Progress::is_due() {
  const Clock::time_point now = now_();
  if (now - last_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kHeartbeat))) return false;
  last_ = now;
  return true;
}

void Progress::print(const std::string& line) {
  if (terminal_) {
    fmt::print(stream_, "\r\033[K{:.{}}", line, columns());
  } else {
    fmt::print(stream_, "backgauge: {}\n", line);
  }
  std::fflush(stream_);
}

std::string Progress::time_left(double share) const {
  const double done = share - first_share_;
  if (last_ - start_ < kFirstEstimate || done < kFirstShare) return "";
  const double elapsed = std::chrono::duration<double>(last_ - start_).count();
  return fmt::format(", about {:.0f} s left", elapsed * (1 - share) / done);
}

void Progress::show(std::size_t done, std::size_t failed, double share, const std::string& current) {
  const std::lock_guard lock(mutex_);
  if (!is_due()) return;
  print(fmt::format("[{}/{}] {} failed{}{}", done, total_, failed, time_left(share), terminal_ ? "  " + current : ""));
}

void Progress::show_phase(const std::string& phase, std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  if (is_due()) print(fmt::format("[{}/{}] {}", done, total, phase));
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (!terminal_) return;
  fmt::print(stream_, "\r\033[K");
  std::fflush(stream_);
}

}  // namespace backgauge::cli
