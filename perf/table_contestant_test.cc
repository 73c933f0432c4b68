// SPDX-License-Identifier: Apache-2.0
// An implementation judged and timed: what it gets in memory, and that it is caught when it turns wrong.
#include "perf/table_contestant.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "properties/judge/puppet.h"

namespace backgauge {
namespace {

using testing::Puppet;

Case parsed(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << error;
  return c.value_or(Case{});
}

const char* const kCell = "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x1";
const char* const kBlock = "block_lstm_grad_v2 t3b2i4h5 peep=1 seq=2 dt=f16 data=strat:0x1";
const char* const kCudnn = "cudnn_rnn_backprop t3b2i4h5 mode=lstm layers=2 drop=0.5 dt=f32 data=strat:0x1";

class TableContestantTest : public ::testing::Test {
 protected:
  TableContestant& contest(const std::string& line, int threads = 1) {
    subject = std::make_unique<Subject>(parsed(line), threads);
    puppet.claims.op = subject->c.op;
    runner = std::make_unique<InProcessRunner>(puppet.table);
    contestant = std::make_unique<TableContestant>(
        "puppet", *runner, [this]() -> const backgauge_implementation& { return puppet.table; });
    return *contestant;
  }

  Puppet puppet;
  std::unique_ptr<Subject> subject;
  std::unique_ptr<InProcessRunner> runner;
  std::unique_ptr<TableContestant> contestant;
};

TEST_F(TableContestantTest, PassesBeforeAndAfterOnEveryOp) {
  for (const char* line : {kCell, kBlock, kCudnn}) {
    TableContestant& honest = contest(line);
    const Verdict before = honest.judge(*subject);
    EXPECT_EQ(before.status, Status::kPassed) << line << ": " << before.reason;
    EXPECT_GT(honest.load(*subject), 0);
    const int runs = puppet.runs;
    EXPECT_GT(honest.time(5), 0);
    EXPECT_EQ(puppet.runs, runs + 5);
    const Verdict after = honest.judge_again();
    EXPECT_EQ(after.status, Status::kPassed) << line << ": " << after.reason;
    honest.drop();
  }
}

TEST_F(TableContestantTest, IsCaughtWhenItTurnsWrong) {
  TableContestant& sly = contest(kCell);
  EXPECT_EQ(sly.judge(*subject).status, Status::kPassed);
  sly.load(*subject);
  const int runs = puppet.runs;
  puppet.after_run = [&](const backgauge_call& call) {
    if (puppet.runs > runs + 3) testing::output_at(call, "dicfo", 3) += 1;
  };
  sly.time(5);
  EXPECT_EQ(sly.judge_again().status, Status::kFailed);
}

TEST_F(TableContestantTest, OutputsOfEarlierCallsDoNotHelp) {
  TableContestant& lazy = contest(kCell);
  lazy.load(*subject);
  lazy.time(2);
  puppet.after_run = [](const backgauge_call& call) {
    testing::output_at(call, "dicfo", 3) = std::numeric_limits<float>::quiet_NaN();
  };
  EXPECT_EQ(lazy.judge_again().status, Status::kFailed);
}

TEST_F(TableContestantTest, GetsItsWorkspaceThreadsAndAlignedTensors) {
  TableContestant& any = contest(kCell, 3);
  puppet.after_prepare = [](backgauge_plan& plan) {
    plan.workspace_bytes = 1000;
    plan.workspace_alignment = 512;
  };
  std::set<std::uintptr_t> offsets;
  puppet.before = [&](const backgauge_call& call, backgauge_message&) {
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
  any.load(*subject);
  EXPECT_EQ(offsets.size(), 16u);
}

TEST_F(TableContestantTest, ReserveSpaceIsRestoredWhereItIsChanged) {
  TableContestant& any = contest(kCudnn);
  puppet.claims.changes_reserve_space = 1;
  int runs = 0;
  float first = 0;
  puppet.after_run = [&](const backgauge_call& call) {
    const backgauge_tensor* reserve = backgauge_find(call.inputs, call.num_inputs, "reserve_space");
    ASSERT_GT(backgauge_elements(reserve), 0);
    float& value = static_cast<float*>(reserve->data)[0];
    if (runs++ == 0) first = value;
    EXPECT_EQ(value, first);
    value += 1;
  };
  any.load(*subject);
  any.time(3);
  EXPECT_EQ(runs, 4);
}

TEST_F(TableContestantTest, AnAnswerOtherThanOkEndsIt) {
  TableContestant& any = contest(kBlock);
  any.load(*subject);
  puppet.before = [](const backgauge_call&, backgauge_message& message) {
    std::strcpy(message.text, "no more");
    return BACKGAUGE_DEVICE_ERROR;
  };
  try {
    any.time(1);
    FAIL();
  } catch (const ContestantError& error) {
    EXPECT_NE(std::string(error.what()).find("device_error: no more"), std::string::npos) << error.what();
  }
  EXPECT_EQ(any.judge_again().status, Status::kFailed);
}

TEST(Expected, TheOracleIsAskedOnceForTheSameQuestion) {
  Subject subject(parsed(kBlock), 1);
  const std::vector<Wanted> first = subject.expected(subject.filled.problem, {}, Values::kRandom);
  subject.filled.problem.inputs.clear();  // it could not be asked again
  const std::vector<Wanted> second = subject.expected(subject.filled.problem, {}, Values::kRandom);
  ASSERT_EQ(first.size(), second.size());
  EXPECT_EQ(first[0].value, second[0].value);
  EXPECT_ANY_THROW(subject.expected(subject.filled.problem, {.half_class = BACKGAUGE_CLASS_B}, Values::kRandom));
}

}  // namespace
}  // namespace backgauge
