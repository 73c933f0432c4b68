// SPDX-License-Identifier: Apache-2.0
// One line on stderr that is redrawn in place; nothing at all where stderr is not a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace backgauge::cli {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();  // clears the line
  void show(std::size_t done, std::size_t failed, const std::string& current);
  // Of a run in phases; from any thread.
  void show_phase(const std::string& phase, std::size_t done, std::size_t total);
  void clear();  // before something else is printed

 private:
  std::mutex mutex_{};
  bool terminal_;
  std::size_t total_;
  std::chrono::steady_clock::time_point start_, last_{};
};

}  // namespace backgauge::cli
