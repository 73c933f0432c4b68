// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a run on stderr: on a terminal one line, redrawn in place; elsewhere a line every ten seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#include "properties/case/line/case.h"

namespace backgauge::cli {

// The approximate time to judge a case, relative to the shortest one. Used for shares of the whole run.
double expected_work(const Case& c);

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Progress(std::size_t total);
  // For tests: with another clock and stream, and whether the stream is a terminal.
  Progress(std::size_t total, std::FILE* stream, bool terminal, std::function<Clock::time_point()> now);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The share of the work that an earlier run has already done.
  void start_at(double share) { first_share_ = share; }

  // `share`: of the whole work, in [0, 1]. Prints the time left as soon as it can be estimated.
  void show(std::size_t done, std::size_t failed, double share, const std::string& current);

  // For a run in phases. May be called from any thread.
  void show_phase(const std::string& phase, std::size_t done, std::size_t total);
  auto phases() { return std::bind_front(&Progress::show_phase, this); }  // the same, to be passed on
  void clear();                                                           // before something else is printed

 private:
  bool is_due();
  void print(const std::string& line);
  std::string time_left(double share) const;

  std::mutex mutex_{};
  std::FILE* stream_;
  bool terminal_;
  std::function<Clock::time_point()> now_;
  std::size_t total_;
  double first_share_ = 0;
  Clock::time_point start_, last_;
};

}  // namespace backgauge::cli
