// SPDX-License-Identifier: Apache-2.0
// judge_case on the LSTM ops, judge_values, and dropout masks alone.
#include "properties/judge/judge.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <thread>

#include "properties/judge/findings.h"
#include "properties/judge/judge_values.h"
#include "properties/judge/puppet.h"
#include "properties/judge/report.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

using testing::input_at;
using testing::output_at;
using testing::Puppet;

Case cell_case(std::uint64_t seed = 7) {
  Case c;
  c.B = 3;
  c.I = 5;
  c.H = 7;
  c.use_peephole = true;
  c.seed = seed;
  return c;
}

Case block_case() {
  Case c = cell_case();
  c.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  c.T = 5;
  c.seq_len_max = 3;
  return c;
}

Case rnn_case() {
  Case c = cell_case();
  c.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  c.T = 2;
  c.layers = 2;
  c.use_peephole = false;
  return c;
}

// Twice, and once more where outputs may share the memory of inputs.
int runs_of(backgauge_op op) { return op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD ? 3 : 2; }

Verdict judge(Puppet& puppet, const Case& c, const JudgeOptions& options = {}) {
  const Filled filled = fill(c);
  EXPECT_EQ(filled.error, "");
  puppet.claims.op = c.op;
  return judge_case(puppet.table, filled.problem, filled.facts, options);
}

void expect_failed(const Verdict& verdict, const std::string& reason) {
  EXPECT_EQ(verdict.status, Status::kFailed) << verdict.reason;
  EXPECT_NE(verdict.reason.find(reason), std::string::npos) << verdict.reason;
}

TEST(Judge, AVerdictStartsBroken) {
  EXPECT_EQ(Verdict{}.status, Status::kBroken);
  EXPECT_EQ(Verdict{}.reason, "not judged");
}

TEST(Judge, PassesWhatIsRightInEveryDtypeAndPlacement) {
  for (const Case& base : {cell_case(), block_case()}) {
    for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Case c = base;
        c.dtype = dtype;
        c.seed = seed;
        Puppet puppet;
        const Verdict verdict = judge(puppet, c, {.seed = seed});
        EXPECT_EQ(verdict.status, Status::kPassed) << to_string(c) << "\n" << verdict_text(verdict);
        EXPECT_EQ(verdict.reason, "");
        EXPECT_EQ(verdict.tensors.size(), c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 ? 8u : 5u);
        EXPECT_EQ(puppet.runs, runs_of(c.op));
      }
    }
  }
}

TEST(Judge, FailsOneWrongElementAnywhere) {
  for (const char* name : {"cs_prev_grad", "dicfo", "wci_grad", "wcf_grad", "wco_grad"}) {
    for (const std::int64_t element : {0, 6}) {
      Puppet puppet;
      puppet.after_run = [&](const backgauge_call& call) { output_at(call, name, element) += 1; };
      expect_failed(judge(puppet, cell_case()), name);
    }
  }
}

TEST(Judge, FailsNanInfAndZeros) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.0f}) {
    Puppet puppet;
    puppet.after_run = [&](const backgauge_call& call) {
      for (int k = 0; k < 84; ++k) output_at(call, "dicfo", k) = value;
    };
    const Verdict verdict = judge(puppet, cell_case());
    expect_failed(verdict, "dicfo[");
    EXPECT_EQ(verdict.tensors[1].bad, 84);
    EXPECT_EQ(verdict.tensors[1].nonfinite, value == 0 ? 0 : 84);
  }
}

TEST(Judge, FailsTheAnswerToAnotherCase) {
  Puppet other;
  std::vector<float> answer;
  other.after_run = [&](const backgauge_call& call) {
    answer.assign(&output_at(call, "dicfo", 0), &output_at(call, "dicfo", 0) + 84);
  };
  EXPECT_EQ(judge(other, cell_case(1)).status, Status::kPassed);
  Puppet puppet;
  puppet.after_run = [&](const backgauge_call& call) {
    std::copy(answer.begin(), answer.end(), &output_at(call, "dicfo", 0));
  };
  expect_failed(judge(puppet, cell_case(2)), "dicfo[");
}

TEST(Judge, FailsWhatIsNeverWritten) {
  Puppet puppet;
  puppet.before = [](const backgauge_call&, backgauge_message&) { return BACKGAUGE_OK; };
  puppet.table.run = [](const backgauge_call*, backgauge_message*) { return BACKGAUGE_OK; };
  const Verdict verdict = judge(puppet, cell_case());
  expect_failed(verdict, "cs_prev_grad[0,0]: never written");
  for (const TensorReport& tensor : verdict.tensors) EXPECT_EQ(tensor.unwritten, tensor.elements);
}

TEST(Judge, FailsATailThatIsNotZero) {
  Puppet puppet;
  puppet.after_run = [](const backgauge_call& call) { output_at(call, "x_grad", 5 * 3 * 5 - 1) = 1e-40f; };
  expect_failed(judge(puppet, block_case()), "x_grad[4,2,4]");
}

TEST(Judge, FailsViolationsEvenWhereValuesAreRight) {
  Puppet overrun;
  overrun.after_run = [](const backgauge_call& call) { output_at(call, "dicfo", 84) = 1; };
  expect_failed(judge(overrun, cell_case()), "wrote past the end of dicfo (element 84 of 84)");
  Puppet mutation;
  mutation.after_run = [](const backgauge_call& call) { input_at(call, "cs_grad", 2) = 1; };
  expect_failed(judge(mutation, cell_case()), "changed the input cs_grad (element 2 of 21)");
}

TEST(Judge, FailsWhatDoesNotRepeatUnlessThatIsDeclared) {
  Puppet puppet;
  puppet.after_run = [&](const backgauge_call& call) {
    float& value = output_at(call, "dicfo", 5);
    if (puppet.runs == 2) value = std::nextafter(value, 1e9f);
  };
  expect_failed(judge(puppet, cell_case()), "not repeatable: dicfo[0,5]: ");
  puppet.runs = 0;
  puppet.claims.determinism = BACKGAUGE_NOT_DETERMINISTIC;
  EXPECT_EQ(judge(puppet, cell_case()).status, Status::kPassed);
  puppet.after_run = [&](const backgauge_call& call) { output_at(call, "dicfo", 5) += puppet.runs == 5 ? 1.0f : 0.0f; };
  expect_failed(judge(puppet, cell_case()), "second run: dicfo[0,5]");
}

TEST(Judge, TheSecondRunHasAnotherWorkspaceAndOtherThreads) {
  Puppet workspace;
  workspace.after_run = [](const backgauge_call& call) {
    if (*static_cast<unsigned char*>(call.workspace) != 0xff) output_at(call, "dicfo", 5) = 0;
  };
  expect_failed(judge(workspace, cell_case()), "not repeatable");
  Puppet threads;
  threads.after_run = [](const backgauge_call& call) {
    float& value = output_at(call, "dicfo", 5);
    if (call.num_threads > 1) value = std::nextafter(value, 1e9f);
  };
  expect_failed(judge(threads, cell_case()), "not repeatable");
  threads.claims.determinism = BACKGAUGE_BITWISE_PER_THREAD_COUNT;
  EXPECT_EQ(judge(threads, cell_case()).status, Status::kPassed);
}

TEST(Judge, TheNumbersOfThreadsFollowFromTheSeed) {
  std::set<std::int32_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Puppet puppet;
    puppet.before = [&](const backgauge_call& call, backgauge_message&) {
      seen.insert(call.num_threads);
      return BACKGAUGE_OK;
    };
    EXPECT_EQ(judge(puppet, block_case(), {.seed = seed, .num_threads = 2}).status, Status::kPassed);
  }
  EXPECT_EQ(seen, (std::set<std::int32_t>{1, 2, 3, 7}));
}

// Which outputs lie in the memory of which inputs.
std::set<std::string> shared(const backgauge_call& call) {
  std::set<std::string> out;
  for (std::int32_t k = 0; k < call.num_outputs; ++k) {
    for (std::int32_t m = 0; m < call.num_inputs; ++m) {
      if (call.outputs[k].data == call.inputs[m].data)
        out.insert(std::string(call.outputs[k].name) + "=" + call.inputs[m].name);
    }
  }
  return out;
}

TEST(Judge, OutputsShareTheMemoryOfInputsOneByOneAndAllTogether) {
  std::set<std::set<std::string>> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Puppet puppet;
    puppet.after_run = [&](const backgauge_call& call) { seen.insert(shared(call)); };
    EXPECT_EQ(judge(puppet, cell_case(), {.seed = seed}).status, Status::kPassed);
  }
  const std::string cs = "cs_prev_grad=cs_grad", wci = "wci_grad=wci", wcf = "wcf_grad=wcf", wco = "wco_grad=wco";
  EXPECT_EQ(seen, (std::set<std::set<std::string>>{{}, {cs}, {wci}, {wcf}, {wco}, {cs, wci, wcf, wco}}));
}

TEST(Judge, FailsWhatIsWrongWhereMemoryIsShared) {
  int failures = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Puppet puppet;
    puppet.after_run = [](const backgauge_call& call) {
      if (shared(call).contains("wci_grad=wci")) output_at(call, "wci_grad", 3) += 1;
    };
    const Verdict verdict = judge(puppet, cell_case(), {.seed = seed});
    if (verdict.status == Status::kPassed) continue;
    ++failures;
    expect_failed(verdict, "wci_grad in the memory of wci");
    expect_failed(verdict, ": wci_grad[3]: ");
  }
  EXPECT_GT(failures, 10);

  // An input that is shared with another output only must still not change.
  Puppet puppet;
  puppet.after_run = [](const backgauge_call& call) {
    if (shared(call) == std::set<std::string>{"wci_grad=wci"}) input_at(call, "wcf", 3) += 1;
  };
  failures = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    failures += judge(puppet, cell_case(), {.seed = seed}).status == Status::kFailed;
  }
  EXPECT_GT(failures, 3);
}

// Tensors of 8 GiB that take no memory, as long as an implementation does not read what nobody reads.
TEST(Run, CallsMaySpanMoreThanTwoToTheThirtyOneElements) {
  Case block = block_case(), cell = cell_case();
  block.T = 357913942, block.B = 2, block.I = 0, block.H = 3;
  cell.B = cell.I = 1, cell.H = 23170;
  backgauge_implementation table{};
  table.run = [](const backgauge_call* call, backgauge_message*) {
    for (std::int32_t k = 0; k < call->num_outputs; ++k) {
      const auto bytes = static_cast<std::size_t>(backgauge_elements(&call->outputs[k])) * sizeof(float);
      if (bytes > 0) std::memset(call->outputs[k].data, 0, bytes);
    }
    input_at(*call, "cs_grad", 17) += 1;
    return BACKGAUGE_OK;
  };
  for (const auto& [c, elements] : {std::pair{block, "2147483652"}, std::pair{cell, "23170"}}) {
    const Filled filled = fill(c);
    ASSERT_EQ(filled.error, "");
    const RunResult result = run(table, filled.problem, {}, {});
    EXPECT_EQ(result.status, BACKGAUGE_OK);
    EXPECT_EQ(result.violations,
              std::vector<std::string>{std::string("changed the input cs_grad (element 17 of ") + elements + ")"});
  }
}

TEST(Judge, AsksTheOracleWhenAllRunsAreOver) {
  for (const Case& c : {cell_case(), rnn_case()}) {
    Puppet puppet;
    int asked = 0;
    JudgeOptions options;
    options.oracle = [&](const Problem& problem, const Declared& declared, Values values) {
      ++asked;
      EXPECT_EQ(puppet.runs, runs_of(c.op));
      return oracle(problem, declared, values);
    };
    EXPECT_EQ(judge(puppet, c, options).status, Status::kPassed);
    EXPECT_EQ(asked, c.op == BACKGAUGE_CUDNN_RNN_BACKPROP ? 2 : 1);
  }
}

TEST(Judge, FailsWhatIsWrittenAfterTheCallHasReturned) {
  Puppet puppet;
  float* kept = nullptr;
  puppet.after_run = [&](const backgauge_call& call) {
    if (kept == nullptr) kept = &output_at(call, "dicfo", 5);
    if (puppet.runs == 2) *kept = 1;
  };
  expect_failed(judge(puppet, cell_case()), "changed the output dicfo (element 5 of 84) after the call had returned");

  Puppet threaded;
  std::thread late;
  threaded.after_run = [&](const backgauge_call& call) {
    if (threaded.runs == 2) {
      late = std::thread([element = &output_at(call, "wco_grad", 2)] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        *element = 1;
      });
    }
  };
  expect_failed(judge(threaded, cell_case()), "changed the output wco_grad (element 2 of 7) after the call had");
  late.join();
}

TEST(Judge, FailsAChangedFloatingPointEnvironment) {
  Puppet puppet;
  puppet.after_run = [&](const backgauge_call&) { std::fesetround(FE_UPWARD); };
  expect_failed(judge(puppet, cell_case()), "run left the floating-point environment changed: rounding upward");
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Judge, ARunWithoutAnswerIsBrokenByTheImplementation) {
  class Breaking : public InProcessRunner {
   public:
    using InProcessRunner::InProcessRunner;
    RunResult run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) override {
      RunResult result = InProcessRunner::run(problem, raw, options);
      if (++runs_ == broken_run) {
        result = {};
        result.broken = "crash: SIGSEGV in run";
      }
      return result;
    }
    CaseEnd end_case() override {
      InProcessRunner::end_case();
      return {{}, broken_run == 0 ? "exit: status 0 after run" : ""};
    }
    int broken_run = 0;

   private:
    int runs_ = 0;
  };
  for (const Case& c : {cell_case(), rnn_case()}) {
    for (const int broken_run : {0, 1, 2}) {
      const Filled filled = fill(c);
      Puppet puppet;
      puppet.claims.op = c.op;
      Breaking runner(puppet.table);
      runner.broken_run = broken_run;
      const Verdict verdict = judge_case(runner, filled.problem, filled.facts, {});
      EXPECT_EQ(verdict.status, Status::kBroken);
      EXPECT_EQ(verdict.reason, broken_run == 0 ? "exit: status 0 after run" : "crash: SIGSEGV in run");
    }
  }
}

TEST(Judge, FailsWhatDependsOnNumbersInItsOutputs) {
  Puppet puppet;
  float before = 0;
  puppet.before = [&](const backgauge_call& call, backgauge_message&) {
    before = output_at(call, "dicfo", 5);
    return BACKGAUGE_OK;
  };
  puppet.after_run = [&](const backgauge_call& call) {
    if (std::isfinite(before)) output_at(call, "dicfo", 5) += before;
  };
  expect_failed(judge(puppet, cell_case()), "not repeatable: dicfo[0,5]");
}

TEST(Judge, EveryTensorIsOnceAlignedToItsElementsOnly) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Puppet puppet;
    std::vector<std::uintptr_t> odd;
    puppet.after_run = [&](const backgauge_call& call) {
      odd.push_back(reinterpret_cast<std::uintptr_t>(&output_at(call, "dicfo", 0)) / sizeof(float) % 2);
    };
    EXPECT_EQ(judge(puppet, cell_case(), {.seed = seed}).status, Status::kPassed);
    ASSERT_EQ(odd.size(), 3u);
    EXPECT_NE(odd[0], odd[1]);
  }
}

TEST(Judge, SkipsWhatIsNotClaimed) {
  const auto skipped = [](const std::function<void(Puppet&)>& change, Case c, const std::string& reason) {
    Puppet puppet;
    change(puppet);
    const Verdict verdict = judge(puppet, c);
    EXPECT_EQ(verdict.status, Status::kSkipped);
    EXPECT_EQ(verdict.reason, reason);
    EXPECT_EQ(puppet.runs, 0);
  };
  skipped([](Puppet& p) { p.claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF); }, cell_case(), "dtype f32 is not claimed");
  skipped([](Puppet& p) { p.claims.use_peephole = BACKGAUGE_BIT(0); }, cell_case(), "use_peephole 1 is not claimed");
  skipped([](Puppet& p) { p.table.num_claims = 0; }, cell_case(), "LSTMBlockCellGrad is not claimed");
  skipped([](Puppet& p) { p.table.memory_space = BACKGAUGE_CUDA; }, cell_case(),
          "the implementation takes memory that this judge does not have");
}

TEST(Judge, SkipsRecomputedCoOnInconsistentStatesOnly) {
  Filled filled = fill(cell_case());
  Puppet puppet;
  puppet.claims.op = filled.problem.op;
  puppet.claims.recomputes_co = 1;
  filled.facts.consistent_saved = false;
  EXPECT_EQ(judge_case(puppet.table, filled.problem, filled.facts, {}).status, Status::kSkipped);
  filled.facts.consistent_saved = true;
  EXPECT_NE(judge_case(puppet.table, filled.problem, filled.facts, {}).status, Status::kSkipped);
}

TEST(Judge, StatusesOtherThanOkAreFailedOrBroken) {
  const std::pair<backgauge_status, Status> wanted[] = {{BACKGAUGE_UNSUPPORTED, Status::kFailed},
                                                        {BACKGAUGE_INVALID_ARGUMENT, Status::kFailed},
                                                        {BACKGAUGE_INTERNAL, Status::kFailed},
                                                        {BACKGAUGE_OUT_OF_MEMORY, Status::kBroken},
                                                        {BACKGAUGE_DEVICE_ERROR, Status::kBroken}};
  for (const auto& [status, verdict_status] : wanted) {
    Puppet puppet;
    puppet.before = [status = status](const backgauge_call&, backgauge_message& message) {
      std::strcpy(message.text, "because");
      return status;
    };
    const Verdict verdict = judge(puppet, cell_case());
    EXPECT_EQ(verdict.status, verdict_status);
    EXPECT_NE(verdict.reason.find(": because"), std::string::npos);
  }
}

TEST(Judge, RefusedProblemsMustBeRefused) {
  Filled filled = fill(cell_case());
  filled.problem.inputs[5].shape = {8};
  Puppet puppet;
  puppet.claims.op = filled.problem.op;
  EXPECT_EQ(judge_case(puppet.table, filled.problem, filled.facts, {}).status, Status::kPassed);
  EXPECT_EQ(puppet.runs, 1);
  puppet.table.run = [](const backgauge_call*, backgauge_message*) { return BACKGAUGE_OK; };
  expect_failed(judge_case(puppet.table, filled.problem, filled.facts, {}), "to a call that must be refused: wcf");
  puppet.table.run = [](const backgauge_call* call, backgauge_message*) {
    output_at(*call, "dicfo", 0) = 0;
    return BACKGAUGE_INVALID_ARGUMENT;
  };
  expect_failed(judge_case(puppet.table, filled.problem, filled.facts, {}), "and wrote dicfo");
}

TEST(Judge, ALegalProblemMustNotBeRefused) {
  Puppet puppet;
  puppet.table.prepare = [](const backgauge_call*, backgauge_plan*, backgauge_message*) {
    return BACKGAUGE_INVALID_ARGUMENT;
  };
  expect_failed(judge(puppet, cell_case()), "prepare answered invalid_argument");
}

TEST(Judge, OutputsWithoutResolutionAreMistrusted) {
  Filled filled = fill(cell_case());
  for (Tensor& tensor : filled.problem.inputs) {
    if (tensor.name == "cs_grad" || tensor.name == "h_grad") {
      for (double& value : tensor.values) value = round_to(BACKGAUGE_FLOAT32, value * 1e-38);
    }
  }
  Puppet puppet;
  puppet.claims.op = filled.problem.op;
  const Verdict verdict = judge_case(puppet.table, filled.problem, filled.facts, {});
  EXPECT_EQ(verdict.status, Status::kMistrusted) << verdict.reason;
  EXPECT_NE(verdict.reason.find("its bound says nothing"), std::string::npos);
  EXPECT_EQ(conclude({}).status, Status::kMistrusted);
}

TEST(Judge, EmptyBatchesPass) {
  Case c = cell_case();
  c.B = 0;
  Puppet puppet;
  EXPECT_EQ(judge(puppet, c).status, Status::kPassed);
}

TEST(JudgeValues, JudgesFilesAndSaysWhatIsWrongWithThem) {
  const std::vector<Wanted> wanted{{"x_grad", {2}, {1, 2}, {1e-6, 1e-6}}};
  const std::vector<GivenTensor> right{{"x_grad", {2}, BACKGAUGE_FLOAT32, {1, 2}}};
  EXPECT_EQ(judge_values(wanted, right, BACKGAUGE_FLOAT32, {}).status, Status::kPassed);
  expect_failed(judge_values(wanted, {}, BACKGAUGE_FLOAT32, {}), "x_grad is missing");
  expect_failed(judge_values(wanted, {{"x_grad", {2}, BACKGAUGE_FLOAT64, {1, 2}}}, BACKGAUGE_FLOAT32, {}),
                "x_grad: expected dtype f32, got f64");
  expect_failed(judge_values(wanted, {{"x_grad", {2, 1}, BACKGAUGE_FLOAT32, {1, 2}}}, BACKGAUGE_FLOAT32, {}),
                "x_grad: expected shape [2], got [2, 1]");
  expect_failed(judge_values(wanted, {{"x_grad", {2}, BACKGAUGE_FLOAT32, {1, 3}}}, BACKGAUGE_FLOAT32, {}), "x_grad[1]");
  const std::vector<Wanted> faulty{{"x_grad", {2}, {1, 2}, {1e-6, std::nan("")}}};
  EXPECT_EQ(judge_values(faulty, right, BACKGAUGE_FLOAT32, {}).status, Status::kBroken);
}

TEST(Findings, AnOutputWithoutWantedValuesIsNotPassed) {
  const Problem problem = fill(cell_case()).problem;
  const std::vector<Output> outputs{{{"dicfo", {1}, {}}, {1}, {0}}};
  EXPECT_THROW(compare_outputs(outputs, {}, problem, {}), std::logic_error);
  EXPECT_THROW(compare_outputs(outputs, {{"dicfo", {2}, {1, 1}, {0, 0}}}, problem, {}), std::logic_error);
}

TEST(Findings, ImplausibleMasksAreNamed) {
  std::vector<std::uint8_t> keep(1000, 1);
  EXPECT_EQ(implausible_mask(keep, 0.5), "keeps 1000 of 1000 elements with dropout 0.5");
  for (std::size_t k = 0; k < 1000; k += 2) keep[k] = 0;
  EXPECT_EQ(implausible_mask(keep, 0.5), "");
  EXPECT_EQ(implausible_mask(keep, 0.25), "keeps 500 of 1000 elements with dropout 0.25");
  keep[3] = 255;
  EXPECT_EQ(implausible_mask(keep, 0.5), "element 3 is 255");
  EXPECT_EQ(implausible_mask(std::vector<std::uint8_t>(20, 1), 0.5), "");  // once in a million
  EXPECT_EQ(implausible_mask({}, 0.5), "");
}

}  // namespace
}  // namespace backgauge
