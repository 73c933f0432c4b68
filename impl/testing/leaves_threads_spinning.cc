// SPDX-License-Identifier: Apache-2.0
// Right in every output. If it may use two threads, the second never ends: it spins, as idle threads of OpenMP do.
// It counts its turns in the file of BACKGAUGE_TEST_COUNTER, where needs_quiet sees them.
#include <atomic>
#include <thread>

#include "impl/testing/counter.h"
#include "impl/testing/wrapped_plain.h"

static backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  static std::atomic<std::uint64_t>& turns = backgauge::testing::counter();
  static std::atomic<bool> spins{false};
  if (call->num_threads == 2 && !spins.exchange(true)) {
    std::thread([] {
      for (;;) ++turns;
    }).detach();
  }
  return backgauge::testing::plain()->run(call, message);
}

BACKGAUGE_WRAPPED_PLAIN("leaves_threads_spinning", run)
