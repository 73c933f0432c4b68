// SPDX-License-Identifier: Apache-2.0
#include "ci/run/process/in_parallel.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "ci/run/process/interrupt.h"

namespace backgauge::cli {

void in_parallel(std::size_t count, int workers,
                 const std::function<void(std::size_t turn, std::size_t worker)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto serve = [&](std::size_t worker) {
    for (std::size_t turn = next++; turn < count && !interrupted(); turn = next++) {
      try {
        work(turn, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!trouble) trouble = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < workers; ++k) threads.emplace_back(serve, static_cast<std::size_t>(k));
  }
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace backgauge::cli
