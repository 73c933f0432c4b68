// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace backgauge::cli {

// Calls work(turn, worker) for every turn in [0, count), each once, on `workers` threads with the numbers
// worker = 0, 1, ... Returns when all calls have ended. After the first exception, which is thrown again, and after an
// interrupt, no more calls begin.
void in_parallel(std::size_t count, int workers, const std::function<void(std::size_t turn, std::size_t worker)>& work);

}  // namespace backgauge::cli
