// SPDX-License-Identifier: Apache-2.0
// An implementation is judged and timed: the memory it gets, and that errors that appear later are detected.
#include "perf/run/abi_contestant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "perf/call/timed_call.h"
#include "properties/judge/testing/scripted_implementation.h"

namespace backgauge {
namespace {

using testing::ScriptedImplementation;

Case parsed(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << error;
  return c.value_or(Case{});
}

const char* const kCell = "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x1";
const char* const kBlock = "block_lstm_grad_v2 t3b2i4h5 peep=1 seq=2 dt=f16 data=strat:0x1";
const char* const kCudnn = "cudnn_rnn_backprop t3b2i4h5 mode=lstm layers=2 drop=0.5 dt=f32 data=strat:0x1";

class AbiContestantTest : public ::testing::Test {
 protected:
  AbiContestant& contest(const std::string& line, LoadOptions options = {}) {
    workload_inputs = std::make_unique<WorkloadInputs>(parsed(line), options);
    scripted.claim(workload_inputs->c.op);
    runner = std::make_unique<InProcessRunner>(scripted.table);
    const auto open = [this](const Problem& problem, const LoadOptions& load) {
      return std::make_unique<TimedCall>(scripted.table, problem, load);
    };
    contestant = std::make_unique<AbiContestant>("scripted", *runner, open);
    return *contestant;
  }
  std::unique_ptr<Launch> launched(const std::string& line, LoadOptions options = {}) {
    return contest(line, options).launch(*workload_inputs);
  }

  ScriptedImplementation scripted;
  std::unique_ptr<WorkloadInputs> workload_inputs;
  std::unique_ptr<InProcessRunner> runner;
  std::unique_ptr<AbiContestant> contestant;
};

TEST_F(AbiContestantTest, PassesBeforeAndAfterOnEveryOp) {
  for (const char* line : {kCell, kBlock, kCudnn}) {
    AbiContestant& honest = contest(line);
    const Verdict before = honest.judge(*workload_inputs);
    EXPECT_EQ(before.status, Status::kPassed) << line << ": " << before.reason;
    const std::unique_ptr<Launch> launch = honest.launch(*workload_inputs);
    EXPECT_GT(launch->loaded().first_call, 0);
    for (const std::uint64_t seed : {1, 2, 3}) {
      launch->turn(seed);
      const int runs = scripted.runs;
      EXPECT_GT(launch->time(5).seconds, 0);
      EXPECT_EQ(scripted.runs, runs + 5);
      const Verdict after = launch->judge();
      EXPECT_EQ(after.status, Status::kPassed) << line << ": " << after.reason;
    }
  }
}

TEST_F(AbiContestantTest, RefusesWhatItCannotRunWithoutRunningIt) {
  EXPECT_FALSE(contest(kCell).refuse(*workload_inputs));
  scripted.claim(&Claims::dtypes, BACKGAUGE_BIT(BACKGAUGE_HALF));
  const std::optional<Verdict> unclaimed = contest(kCell).refuse(*workload_inputs);
  ASSERT_TRUE(unclaimed);
  EXPECT_EQ(unclaimed->status, Status::kSkipped);
  EXPECT_EQ(unclaimed->reason, "dtype f32 is not claimed");
  EXPECT_EQ(scripted.runs, 0);
}

TEST_F(AbiContestantTest, IsCaughtWhenItTurnsWrong) {
  EXPECT_EQ(contest(kCell).judge(*workload_inputs).status, Status::kPassed);
  const std::unique_ptr<Launch> sly = contestant->launch(*workload_inputs);
  const int runs = scripted.runs;
  scripted.after_run = [&](const backgauge_call& call) {
    if (scripted.runs > runs + 3) testing::output_at(call, "dicfo", 3) += 1;
  };
  sly->time(5);
  EXPECT_EQ(sly->judge().status, Status::kFailed);
}

// A watched call whose process and judge do not agree on its time, by no more than a busy machine explains, unless a
// sample has `agreed` calls.
class Disputed : public Session {
 public:
  Disputed(std::unique_ptr<Session> session, std::int64_t agreed) : session_(std::move(session)), agreed_(agreed) {}

  Loaded loaded() const override { return session_->loaded(); }
  void turn(std::uint64_t seed) override { session_->turn(seed); }
  Timing time(std::int64_t calls) override { return session_->time(calls); }
  Computed computed(bool again) override { return session_->computed(again); }
  Observation observe(std::int64_t calls) override {
    turn(++seed_);
    const Timing timing = time(calls);
    std::optional<ClockDispute> dispute;
    if (calls < agreed_) dispute = ClockDispute{"late", 0};
    return {timing, dispute, computed(false), seed_, seed_};
  }

 private:
  std::unique_ptr<Session> session_;
  std::int64_t agreed_;
  std::uint64_t seed_ = 0;
};

TEST_F(AbiContestantTest, WrongOutputsAreWrongWhateverTheClocksSay) {
  contest(kCell);
  AbiContestant disputed("disputed", *runner, [this](const Problem& problem, const LoadOptions& load) {
    return std::make_unique<Disputed>(std::make_unique<TimedCall>(scripted.table, problem, load), 1'000'000);
  });
  for (const bool is_wrong : {false, true}) {
    if (is_wrong) scripted.after_run = [](const backgauge_call& call) { testing::output_at(call, "dicfo", 3) += 1; };
    workload_inputs->options.watched = true;
    const std::unique_ptr<Launch> launch = disputed.launch(*workload_inputs);
    try {
      launch->time(2);
      ADD_FAILURE() << "timed";
    } catch (const ContestantError& error) {
      EXPECT_EQ(error.status, is_wrong ? Status::kFailed : Status::kMistrusted) << error.what();
    }
  }
}

TEST_F(AbiContestantTest, WithoutItsMasksNothingWatchedIsTimed) {
  contest(kCudnn);
  scripted.table.dropout_mask = nullptr;
  AbiContestant silent("silent", *runner, [this](const Problem& problem, const LoadOptions& load) {
    return std::make_unique<Disputed>(std::make_unique<TimedCall>(scripted.table, problem, load), 0);
  });
  workload_inputs->options.watched = true;
  const std::unique_ptr<Launch> launch = silent.launch(*workload_inputs);
  try {
    launch->time(2);
    ADD_FAILURE() << "timed";
  } catch (const ContestantError& error) {
    EXPECT_EQ(error.status, Status::kMistrusted);
    EXPECT_TRUE(std::string(error.what()).starts_with("not timed: its dropout masks")) << error.what();
  }
}

TEST_F(AbiContestantTest, AWatchedCallIsJudgedWithItsOwnValues) {
  for (const char* line : {kCell, kBlock, kCudnn}) {
    contest(line);
    AbiContestant watched("watched", *runner, [this](const Problem& problem, const LoadOptions& load) {
      return std::make_unique<Disputed>(std::make_unique<TimedCall>(scripted.table, problem, load), 0);
    });
    workload_inputs->options.watched = true;
    const std::unique_ptr<Launch> launch = watched.launch(*workload_inputs);
    for (int k = 0; k < 3; ++k) EXPECT_GT(launch->time(2).seconds, 0) << line;
    const Verdict last = launch->judge();
    EXPECT_EQ(last.status, Status::kPassed) << line << ": " << last.reason;
  }
}

TEST_F(AbiContestantTest, WatchesMoreCallsUntilTheClocksAgree) {
  contest(kCell);
  AbiContestant disputed("disputed", *runner, [this](const Problem& problem, const LoadOptions& load) {
    return std::make_unique<Disputed>(std::make_unique<TimedCall>(scripted.table, problem, load), 16);
  });
  workload_inputs->options.watched = true;
  const std::unique_ptr<Launch> launch = disputed.launch(*workload_inputs);
  const int runs = scripted.runs;
  EXPECT_GT(launch->time(2).seconds, 0);
  EXPECT_EQ(scripted.runs, runs + 2 + 4 + 8 + 16);
}

// A cached answer belongs to the inputs of an earlier sample.
TEST_F(AbiContestantTest, IsCaughtWhenItRemembersAnAnswer) {
  for (const char* line : {kCell, kBlock, kCudnn}) {
    const std::unique_ptr<Launch> forgetful = launched(line);
    std::vector<std::vector<char>> memory;
    scripted.after_run = [&](const backgauge_call& call) {
      for (std::int32_t k = 0; k < call.num_outputs; ++k) {
        const backgauge_tensor& output = call.outputs[k];
        auto* data = static_cast<char*>(output.data);
        const auto bytes = static_cast<std::size_t>(backgauge_elements(&output)) * backgauge_dtype_bytes(output.dtype);
        if (memory.size() == static_cast<std::size_t>(k)) memory.emplace_back(data, data + bytes);
        std::memcpy(data, memory[static_cast<std::size_t>(k)].data(), bytes);
      }
    };
    forgetful->turn(1);
    forgetful->time(3);
    EXPECT_EQ(forgetful->judge().status, Status::kPassed) << line;
    forgetful->turn(2);
    forgetful->time(3);
    EXPECT_EQ(forgetful->judge().status, Status::kFailed) << line;
    scripted.after_run = {};
  }
}

// The outputs of timed calls are judged, not only those of a call made for the judge.
TEST_F(AbiContestantTest, IsCaughtWhenItWorksOnlyOnPoisonedOutputs) {
  const std::unique_ptr<Launch> idle = launched(kCell);
  std::vector<float> left;
  scripted.before = [&](const backgauge_call& call, backgauge_message&) {
    const backgauge_tensor* output = backgauge_find(call.outputs, call.num_outputs, "dicfo");
    const auto* data = static_cast<const float*>(output->data);
    left.assign(data, data + backgauge_elements(output));
    return BACKGAUGE_OK;
  };
  scripted.after_run = [&](const backgauge_call& call) {
    if (std::isnan(left[0])) return;
    const backgauge_tensor* output = backgauge_find(call.outputs, call.num_outputs, "dicfo");
    std::copy(left.begin(), left.end(), static_cast<float*>(output->data));
  };
  idle->turn(1);
  idle->time(3);
  EXPECT_EQ(idle->judge().status, Status::kFailed);
}

TEST_F(AbiContestantTest, MasksThatAreNotAvailableAreJudgedAsTheJudgeDoes) {
  const auto tell_nothing = [](const backgauge_call*, std::int32_t, std::uint8_t*, backgauge_message*) {
    return BACKGAUGE_UNSUPPORTED;
  };
  for (const bool answers : {true, false}) {
    scripted.table.dropout_mask = answers ? +tell_nothing : nullptr;
    AbiContestant& silent = contest(kCudnn);
    const Verdict before = silent.judge(*workload_inputs);
    ASSERT_EQ(before.status, Status::kPassed) << before.reason;
    const std::unique_ptr<Launch> launch = silent.launch(*workload_inputs);
    launch->turn(1);
    launch->time(3);
    const Verdict after = launch->judge();
    EXPECT_EQ(after.status, Status::kPassed) << after.reason;
    const int runs = scripted.runs;
    scripted.after_run = [&](const backgauge_call& call) {
      if (scripted.runs > runs + 1 && scripted.runs <= runs + 3) testing::output_at(call, "params_backprop", 3) += 1;
    };
    launch->turn(2);
    launch->time(3);
    const Verdict wrong = launch->judge();
    EXPECT_EQ(wrong.status, Status::kFailed);
    EXPECT_NE(wrong.reason.find("params_backprop[3]"), std::string::npos) << wrong.reason;
    scripted.after_run = {};
  }
}

TEST_F(AbiContestantTest, AFloatingPointUnitLeftInDisorderIsRefused) {
  const std::unique_ptr<Launch> rude = launched(kCell);
  const int before = std::fegetround();
  scripted.after_run = [](const backgauge_call&) { std::fesetround(FE_UPWARD); };
  try {
    rude->time(1);
    FAIL();
  } catch (const ContestantError& error) {
    EXPECT_EQ(error.status, Status::kFailed);
    EXPECT_NE(std::string(error.what()).find("rounding upward"), std::string::npos) << error.what();
  }
  EXPECT_EQ(std::fegetround(), before);
}

TEST_F(AbiContestantTest, OutputsOfEarlierCallsDoNotHelp) {
  const std::unique_ptr<Launch> lazy = launched(kCell);
  lazy->time(2);
  scripted.after_run = [](const backgauge_call& call) {
    testing::output_at(call, "dicfo", 3) = std::numeric_limits<float>::quiet_NaN();
  };
  EXPECT_EQ(lazy->judge().status, Status::kFailed);
}

TEST_F(AbiContestantTest, GetsItsWorkspaceThreadsAndAlignedTensors) {
  scripted.after_prepare = [](backgauge_plan& plan) {
    plan.workspace_bytes = 1000;
    plan.workspace_alignment = 512;
  };
  std::set<std::uintptr_t> offsets;
  scripted.before = [&](const backgauge_call& call, backgauge_message&) {
    EXPECT_EQ(call.num_threads, 3);
    EXPECT_EQ(call.workspace_bytes, 1000u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.workspace) % 512, 0u);
    offsets.clear();
    for (std::int32_t k = 0; k < call.num_inputs; ++k) {
      const auto address = reinterpret_cast<std::uintptr_t>(call.inputs[k].data);
      EXPECT_EQ(address % 64, 0u);
      EXPECT_TRUE(offsets.insert(address % 4096).second) << call.inputs[k].name;
    }
    return BACKGAUGE_OK;
  };
  launched(kCell, {.threads = 3});
  EXPECT_EQ(offsets.size(), 16u);
}

TEST_F(AbiContestantTest, ReserveSpaceIsRestoredWhereItIsChanged) {
  scripted.claim(&Claims::changes_reserve_space, true);
  int runs = 0;
  float first = 0;
  scripted.after_run = [&](const backgauge_call& call) {
    const backgauge_tensor* reserve = backgauge_find(call.inputs, call.num_inputs, "reserve_space");
    ASSERT_GT(backgauge_elements(reserve), 0);
    float& value = static_cast<float*>(reserve->data)[0];
    if (runs++ == 0) first = value;
    EXPECT_EQ(value, first);
    value += 1;
  };
  const std::unique_ptr<Launch> any = launched(kCudnn);
  any->time(3);
  EXPECT_EQ(runs, 4);
}

TEST_F(AbiContestantTest, AnAnswerOtherThanOkEndsIt) {
  const std::unique_ptr<Launch> any = launched(kBlock);
  scripted.before = [](const backgauge_call&, backgauge_message& message) {
    std::strcpy(message.text, "no more");
    return BACKGAUGE_DEVICE_ERROR;
  };
  try {
    any->time(1);
    FAIL();
  } catch (const ContestantError& error) {
    EXPECT_NE(std::string(error.what()).find("device_error: no more"), std::string::npos) << error.what();
  }
  EXPECT_EQ(any->judge().status, Status::kFailed);
}

}  // namespace
}  // namespace backgauge
