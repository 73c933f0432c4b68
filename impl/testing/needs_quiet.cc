// SPDX-License-Identifier: Apache-2.0
// Right in every output as long as leaves_threads_spinning does nothing meanwhile.
#include <chrono>
#include <cstdio>
#include <thread>

#include "impl/testing/counter.h"
#include "impl/testing/wrapped_plain.h"

static backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  static const std::atomic<std::uint64_t>& turns = backgauge::testing::counter();
  const std::uint64_t before = turns;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the other comes to its turn on a busy machine, too
  if (turns != before) {
    std::snprintf(message->text, sizeof message->text, "somebody else computes");
    return BACKGAUGE_INTERNAL;
  }
  return backgauge::testing::plain()->run(call, message);
}

BACKGAUGE_WRAPPED_PLAIN("needs_quiet", run)
