// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "properties/case/draw/inputs.h"
#include "properties/judge/testing/scripted_implementation.h"
#include "reference/oracle.h"

namespace backgauge {
namespace {

using testing::input_at;
using testing::output_at;
using testing::ScriptedImplementation;

Problem cell_problem() {
  Case c;
  c.B = 3;
  c.I = 5;
  c.H = 7;
  c.use_peephole = true;
  c.seed = 11;
  Filled filled = fill(c);
  EXPECT_EQ(filled.error, "");
  return filled.problem;
}

RunResult run_cell(const ScriptedImplementation& scripted, const RunOptions& options = {}) {
  return InProcessRunner(scripted.table).run(cell_problem(), {}, options);
}

TEST(Run, GivesStatusValuesAndBytes) {
  ScriptedImplementation scripted;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    RunOptions options;
    options.placement = Placement(seed);
    const RunResult result = run_cell(scripted, options);
    EXPECT_EQ(result.status, BACKGAUGE_OK);
    EXPECT_EQ(result.function, "run");
    EXPECT_TRUE(result.violations.empty());
    ASSERT_EQ(result.outputs.size(), 5u);
    EXPECT_EQ(result.outputs[1].raw.name, "dicfo");
    EXPECT_EQ(result.outputs[1].raw.shape, (Shape{3, 28}));
    EXPECT_EQ(result.outputs[1].values.size(), 84u);
    EXPECT_EQ(result.outputs[1].raw.bytes.size(), 84u * 4);
    for (const Output& output : result.outputs) {
      EXPECT_EQ(std::count(output.unwritten.begin(), output.unwritten.end(), 1), 0) << output.raw.name;
    }
  }
}

TEST(Run, PassesOnWhatTheOptionsSay) {
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call& call) {
    EXPECT_EQ(call.num_threads, 5);
    EXPECT_EQ(call.workspace_bytes, 200u);
    EXPECT_EQ(static_cast<unsigned char*>(call.workspace)[199], 0x3c);
  };
  RunOptions options;
  options.num_threads = 5;
  options.workspace_fill = RunOptions::kFiniteFill;
  EXPECT_EQ(run_cell(scripted, options).status, BACKGAUGE_OK);
}

TEST(Run, FlagsElementsThatWereNotWritten) {
  ScriptedImplementation scripted;
  std::uint32_t poison = 0;
  scripted.before = [&](const backgauge_call& call, backgauge_message&) {
    std::memcpy(&poison, &output_at(call, "dicfo", 0), sizeof poison);
    return BACKGAUGE_OK;
  };
  scripted.after_run = [&](const backgauge_call& call) {
    std::memcpy(&output_at(call, "dicfo", 17), &poison, sizeof poison);
  };
  const RunResult result = run_cell(scripted);
  EXPECT_EQ(result.outputs[1].unwritten[17], 1);
  EXPECT_EQ(std::count(result.outputs[1].unwritten.begin(), result.outputs[1].unwritten.end(), 1), 1);
}

TEST(Run, ReportsOverrunsUnderrunsAndChangedInputs) {
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call& call) {
    output_at(call, "dicfo", 84) = 0;
    output_at(call, "wci_grad", -1) = 0;
    input_at(call, "ci", 20) += 1;
    static_cast<unsigned char*>(call.workspace)[-1] = 0;
  };
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    RunOptions options;
    options.placement = Placement(seed);
    std::vector<std::string> violations = run_cell(scripted, options).violations;
    std::sort(violations.begin(), violations.end());
    EXPECT_EQ(violations, (std::vector<std::string>{"changed the input ci (element 20 of 21)",
                                                    "wrote before the beginning of the workspace (byte -1 of 200)",
                                                    "wrote before the beginning of wci_grad (element -1 of 7)",
                                                    "wrote past the end of dicfo (element 84 of 84)"}));
  }
}

TEST(Run, ARefusalMustLeaveOutputsUntouched) {
  for (const backgauge_status status : {BACKGAUGE_INVALID_ARGUMENT, BACKGAUGE_UNSUPPORTED}) {
    ScriptedImplementation scripted;
    scripted.before = [status](const backgauge_call& call, backgauge_message& message) {
      output_at(call, "dicfo", 3) = 0;
      std::strcpy(message.text, "no");
      return status;
    };
    const RunResult result = run_cell(scripted);
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.message, "no");
    ASSERT_EQ(result.violations.size(), 1u);
    EXPECT_NE(result.violations[0].find("and wrote dicfo (element 3 of 84)"), std::string::npos);
  }
}

// Placements that try both ends of a message and of a plan.
std::vector<std::string> violations_of(const ScriptedImplementation& scripted) {
  std::set<std::string> all;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    RunOptions options;
    options.placement = Placement(seed);
    const RunResult result = run_cell(scripted, options);
    EXPECT_FALSE(result.violations.empty()) << seed;
    all.insert(result.violations.begin(), result.violations.end());
  }
  return {all.begin(), all.end()};
}

TEST(Run, NoticesWritesPastTheMessage) {
  ScriptedImplementation scripted;
  scripted.before = [](const backgauge_call&, backgauge_message& message) {
    const volatile std::size_t past_end = sizeof message.text;  // volatile: a compiler refuses an index that it knows
    const_cast<volatile char*>(message.text)[past_end] = 0;
    return BACKGAUGE_OK;
  };
  EXPECT_EQ(violations_of(scripted),
            std::vector<std::string>{"run wrote past the end of the message (byte 512 of 512)"});
}

TEST(Run, NoticesWritesPastThePlan) {
  ScriptedImplementation scripted;
  scripted.after_prepare = [](backgauge_plan& plan) { (&plan)[1].struct_size = 0; };
  EXPECT_EQ(violations_of(scripted),
            std::vector<std::string>{"prepare wrote past the end of the plan (byte 24 of 24)"});
}

TEST(Run, NoticesWritesToTheCallItsDescriptionsAndNames) {
  using Act = std::function<void(const backgauge_call&)>;
  const std::pair<const char*, Act> acts[] = {
      {"run wrote to the call", [](const backgauge_call& call) { const_cast<backgauge_call&>(call).num_threads = 9; }},
      {"run wrote to the description of cs_prev",
       [](const backgauge_call& call) { const_cast<backgauge_tensor*>(call.inputs)[1].shape[0] += 1; }},
      {"run wrote to the description of dicfo",
       [](const backgauge_call& call) { const_cast<backgauge_tensor*>(call.outputs)[1].data = nullptr; }},
      {"run wrote to the name of x",
       [](const backgauge_call& call) { const_cast<char*>(call.inputs[0].name)[0] = 'y'; }},
      // Also where it is put back.
      {"run wrote to the call", [](const backgauge_call& call) {
         auto& threads = const_cast<volatile std::int32_t&>(call.num_threads);
         const std::int32_t before = threads;
         threads = 9;
         threads = before;
       }}};
  for (const auto& [text, act] : acts) {
    ScriptedImplementation scripted;
    scripted.after_run = act;
    EXPECT_EQ(violations_of(scripted), std::vector<std::string>{text});
  }
}

TEST(Run, CatchesExceptions) {
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call&) { throw std::runtime_error("no"); };
  EXPECT_EQ(run_cell(scripted).violations, std::vector<std::string>{"run threw an exception"});
}

TEST(Run, DistrustsPrepare) {
  ScriptedImplementation scripted;
  scripted.after_prepare = [](backgauge_plan& plan) { plan.workspace_alignment = 3; };
  EXPECT_EQ(run_cell(scripted).violations,
            std::vector<std::string>{"prepare asked for an alignment of 3 bytes, which is not a power of two"});
  scripted.after_prepare = [](backgauge_plan& plan) { plan.reserve_space_length = -1; };
  EXPECT_EQ(run_cell(scripted).violations,
            std::vector<std::string>{"prepare asked for a reserve_space of -1 elements"});
  EXPECT_EQ(scripted.runs, 0);
}

TEST(Run, NeedsNoPrepare) {
  ScriptedImplementation scripted;
  scripted.table.prepare = nullptr;
  const RunResult result = run_cell(scripted);
  EXPECT_EQ(result.status, BACKGAUGE_OK);
  EXPECT_TRUE(result.violations.empty());
}

TEST(Run, ReserveSpaceStaysBytes) {
  Case c;
  c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  c.T = 2;
  c.B = c.I = c.H = 3;
  ScriptedImplementation scripted;
  const RunResult result = InProcessRunner(scripted.table).run(forward_problem(fill(c).problem), {}, {});
  EXPECT_EQ(result.function, "forward");
  EXPECT_EQ(result.reserve_length, 1);
  ASSERT_EQ(result.outputs.back().raw.name, "reserve_space");
  EXPECT_EQ(result.outputs.back().raw.bytes.size(), sizeof(float));
  EXPECT_TRUE(result.outputs.back().values.empty());
  EXPECT_TRUE(result.outputs.back().unwritten.empty());
}

}  // namespace
}  // namespace backgauge
