// SPDX-License-Identifier: Apache-2.0
// Tests the order in which the parts of a call are called, and which of them are timed.
#include "perf/call/timed_parts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "perf/call/timed_call.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/testing/scripted_implementation.h"

namespace backgauge {
namespace {

constexpr std::chrono::milliseconds kLong{20};

// The parts of a scripted implementation. Everything but run() sleeps.
struct ScriptedParts : TimedParts {
  explicit ScriptedParts(const backgauge_implementation& its_table) : table(its_table) {}

  bool is_staged(std::int32_t) const override { return staged; }
  backgauge_status prepare(const backgauge_call*, backgauge_message*) override {
    std::this_thread::sleep_for(kLong);
    return done('p');
  }
  backgauge_status run(const backgauge_call* call, backgauge_message* message) override {
    table.run(call, message);
    return done('r');
  }
  backgauge_status finish(const backgauge_call*, backgauge_message*) override {
    std::this_thread::sleep_for(kLong);
    return done('f');
  }
  backgauge_status prepare_nothing(const backgauge_call*, backgauge_message*) override { return done('0'); }
  backgauge_status run_nothing(const backgauge_call*, backgauge_message*) override {
    ++empty_calls;
    return BACKGAUGE_OK;
  }
  backgauge_status done(char part) {
    order += part;
    return part == fails ? BACKGAUGE_INTERNAL : BACKGAUGE_OK;
  }

  const backgauge_implementation& table;
  bool staged = true;
  char fails = ' ';
  std::string order;
  int empty_calls = 0;
};

class TimedPartsTest : public ::testing::Test {
 protected:
  TimedPartsTest() {
    std::string error;
    filled = fill(parse_case("lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x1", error).value());
    scripted.claim(filled.problem.op);
  }

  TimedCall load(const LoadOptions& options = {}) { return {scripted.table, filled.problem, options, {}, &parts}; }

  Filled filled;
  testing::ScriptedImplementation scripted;
  ScriptedParts parts{scripted.table};
};

TEST_F(TimedPartsTest, AStagedCallIsPreparedEachTimeAndItsRunAloneIsTimed) {
  TimedCall call = load();
  EXPECT_EQ(parts.order, "prf0");
  EXPECT_GT(parts.empty_calls, 0);
  EXPECT_GT(call.loaded().empty_call, 0);
  parts.order.clear();
  const double whole = 3 * 2 * std::chrono::duration<double>(kLong).count();
  EXPECT_LT(call.time(3).seconds, whole);
  EXPECT_EQ(parts.order, "prfprfprf");
  parts.order.clear();
  EXPECT_FALSE(call.computed(true).outputs.empty());
  EXPECT_EQ(parts.order, "prf");
}

TEST_F(TimedPartsTest, AnyOtherCallIsRunAsAWhole) {
  parts.staged = false;
  TimedCall call = load();
  EXPECT_GT(call.loaded().empty_call, 0);
  call.time(3);
  EXPECT_EQ(parts.order, "0");
  EXPECT_EQ(scripted.runs, 4);
}

TEST_F(TimedPartsTest, WatchedCallsAreRunAsAWhole) {
  TimedCall call = load({.watched = true});
  call.time(3);
  EXPECT_EQ(parts.order, "0");
}

TEST_F(TimedPartsTest, AnErrorInAnyPartIsNamed) {
  TimedCall call = load();
  for (const auto& [part, name] : {std::pair('p', "prepare"), std::pair('r', "run"), std::pair('f', "finish")}) {
    parts.fails = part;
    try {
      call.time(1);
      ADD_FAILURE() << name;
    } catch (const ContestantError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(std::string(name) + " returned internal")) << error.what();
      EXPECT_EQ(error.status, Status::kFailed);
    }
  }
}

}  // namespace
}  // namespace backgauge
