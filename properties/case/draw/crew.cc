// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/crew.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace backgauge {

Crew Crew::of_all_cores(std::function<bool()> stop) {
  return {static_cast<int>(std::max(1U, std::thread::hardware_concurrency())), std::move(stop)};
}

void Crew::together(int workers, const std::function<void(int worker)>& work) {
  std::vector<std::jthread> others;
  for (int worker = 1; worker < workers; ++worker) others.emplace_back([&work, worker] { work(worker); });
  work(0);
}

void Crew::over(std::size_t count, const std::function<void(std::size_t first, std::size_t last)>& work,
                std::size_t piece) const {
  const std::size_t pieces = (count + piece - 1) / piece;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto serve = [&](int) {
    for (std::size_t turn = next++; turn < pieces; turn = next++) {
      try {
        if (stopping()) throw Stopped();
        work(turn * piece, std::min(count, (turn + 1) * piece));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!trouble) trouble = std::current_exception();
        next = pieces;
      }
    }
  };
  together(static_cast<int>(std::min<std::size_t>(pieces, static_cast<std::size_t>(threads_))), serve);
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace backgauge
