// SPDX-License-Identifier: Apache-2.0
// Tests what judge_case varies between runs, and what it detects besides wrong values: memory, threads, environment,
// time.
#include <gtest/gtest.h>

#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include "properties/case/draw/inputs.h"
#include "properties/judge/testing/judge_testing.h"

namespace backgauge {
namespace {

using namespace testing;

TEST(Judge, FailsWhatDoesNotRepeatUnlessThatIsDeclared) {
  ScriptedImplementation scripted;
  scripted.after_run = [&](const backgauge_call& call) {
    float& value = output_at(call, "dicfo", 5);
    if (scripted.runs == 2) value = std::nextafter(value, 1e9f);
  };
  expect_failed(judge(scripted, cell_case()), "not repeatable: dicfo[0,5]: ");
  scripted.runs = 0;
  scripted.claim(&Claims::determinism, BACKGAUGE_NOT_DETERMINISTIC);
  EXPECT_EQ(judge(scripted, cell_case()).status, Status::kPassed);
  scripted.after_run = [&](const backgauge_call& call) {
    output_at(call, "dicfo", 5) += scripted.runs == 5 ? 1.0f : 0.0f;
  };
  expect_failed(judge(scripted, cell_case()), "second run: dicfo[0,5]");
}

// No two calls are alike from the third on, which is the one that shares memory: memory is not to blame.
TEST(Judge, BlamesNoMemoryForWhatDoesNotRepeat) {
  ScriptedImplementation scripted;
  scripted.after_run = [&](const backgauge_call& call) {
    if (scripted.runs > 2) output_at(call, "dicfo", 5) += static_cast<float>(scripted.runs);
  };
  const Verdict verdict = judge(scripted, cell_case());
  expect_failed(verdict, "not repeatable: dicfo[0,5]: ");
  EXPECT_EQ(verdict.reason.find("in the memory of"), std::string::npos) << verdict.reason;
}

// A result that is added to poison is poison: only the second run shows that something was written.
TEST(Judge, TellsWhatWasAddedFromWhatWasNeverWritten) {
  ScriptedImplementation scripted;
  std::vector<float> before(4 * 7 * 3);
  scripted.before = [&](const backgauge_call& call, backgauge_message&) {
    for (std::size_t k = 0; k < before.size(); ++k) before[k] = output_at(call, "dicfo", static_cast<std::int64_t>(k));
    return BACKGAUGE_OK;
  };
  scripted.after_run = [&](const backgauge_call& call) {
    for (std::size_t k = 0; k < before.size(); ++k) {
      float& value = output_at(call, "dicfo", static_cast<std::int64_t>(k));
      value = before[k] + value;
    }
  };
  const Verdict added = judge(scripted, cell_case());
  expect_failed(added, ": the result was added to what was there before the call, want ");
  expect_failed(added, "; 84 of 84 elements wrong, 84 added to what was there");
  EXPECT_EQ(failure_of(added), "dicfo added");
  scripted.after_run = [&](const backgauge_call& call) {
    for (std::size_t k = 0; k < before.size(); ++k) output_at(call, "dicfo", static_cast<std::int64_t>(k)) = before[k];
  };
  expect_failed(judge(scripted, cell_case()), "never written, want ");
}

TEST(Judge, TheSecondRunHasAnotherWorkspaceAndOtherThreads) {
  ScriptedImplementation workspace;
  workspace.after_run = [](const backgauge_call& call) {
    if (*static_cast<unsigned char*>(call.workspace) != 0xff) output_at(call, "dicfo", 5) = 0;
  };
  expect_failed(judge(workspace, cell_case()), "not repeatable");
  ScriptedImplementation threads;
  threads.after_run = [](const backgauge_call& call) {
    float& value = output_at(call, "dicfo", 5);
    if (call.num_threads > 1) value = std::nextafter(value, 1e9f);
  };
  expect_failed(judge(threads, cell_case()), "not repeatable");
  threads.claim(&Claims::determinism, BACKGAUGE_BITWISE_PER_THREAD_COUNT);
  EXPECT_EQ(judge(threads, cell_case()).status, Status::kPassed);
}

TEST(Judge, TheNumbersOfThreadsFollowFromTheSeed) {
  std::set<std::int32_t> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ScriptedImplementation scripted;
    scripted.before = [&](const backgauge_call& call, backgauge_message&) {
      seen.insert(call.num_threads);
      return BACKGAUGE_OK;
    };
    EXPECT_EQ(judge(scripted, block_case(), {.seed = seed, .num_threads = 2}).status, Status::kPassed);
  }
  EXPECT_EQ(seen, (std::set<std::int32_t>{1, 2, 3, 4, 5, 7, 8, 16, 33}));
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
    ScriptedImplementation scripted;
    scripted.after_run = [&](const backgauge_call& call) { seen.insert(shared(call)); };
    EXPECT_EQ(judge(scripted, cell_case(), {.seed = seed}).status, Status::kPassed);
  }
  const std::string cs = "cs_prev_grad=cs_grad", wci = "wci_grad=wci", wcf = "wcf_grad=wcf", wco = "wco_grad=wco";
  EXPECT_EQ(seen, (std::set<std::set<std::string>>{{}, {cs}, {wci}, {wcf}, {wco}, {cs, wci, wcf, wco}}));
}

TEST(Judge, FailsWhatIsWrongWhereMemoryIsShared) {
  int failures = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ScriptedImplementation scripted;
    scripted.after_run = [](const backgauge_call& call) {
      if (shared(call).contains("wci_grad=wci")) output_at(call, "wci_grad", 3) += 1;
    };
    const Verdict verdict = judge(scripted, cell_case(), {.seed = seed});
    if (verdict.status == Status::kPassed) continue;
    ++failures;
    expect_failed(verdict, "wci_grad in the memory of wci");
    expect_failed(verdict, ": wci_grad[3]: ");
  }
  EXPECT_GT(failures, 10);

  // An input whose memory is shared with another output only must still not change.
  ScriptedImplementation scripted;
  scripted.after_run = [](const backgauge_call& call) {
    if (shared(call) == std::set<std::string>{"wci_grad=wci"}) input_at(call, "wcf", 3) += 1;
  };
  failures = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    failures += judge(scripted, cell_case(), {.seed = seed}).status == Status::kFailed;
  }
  EXPECT_GT(failures, 3);
}

// Tensors of 8 GiB that take no memory unless an implementation reads parts that need not be read.
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
    const RunResult result = InProcessRunner(table).run(filled.problem, {}, {});
    EXPECT_EQ(result.status, BACKGAUGE_OK);
    EXPECT_EQ(result.violations,
              std::vector<std::string>{std::string("changed the input cs_grad (element 17 of ") + elements + ")"});
  }
}

TEST(Judge, AsksTheOracleWhenAllRunsAreOver) {
  for (const Case& c : {cell_case(), rnn_case()}) {
    ScriptedImplementation scripted;
    int asked = 0;
    ExpectedOutputs expected(fill(c).facts,
                             [&](const Problem& problem, const Declared& declared, RoundingErrors roundings) {
                               ++asked;
                               EXPECT_EQ(scripted.runs, runs_of(c.op));
                               return oracle(problem, declared, roundings);
                             });
    EXPECT_EQ(judge(scripted, c, {.expected = &expected}).status, Status::kPassed);
    EXPECT_EQ(asked, c.op == BACKGAUGE_CUDNN_RNN_BACKPROP ? 2 : 1);
  }
}

TEST(Judge, FailsWhatIsWrittenAfterTheCallHasReturned) {
  ScriptedImplementation scripted;
  float* kept = nullptr;
  scripted.after_run = [&](const backgauge_call& call) {
    if (kept == nullptr) kept = &output_at(call, "dicfo", 5);
    if (scripted.runs == 2) *kept = 1;
  };
  expect_failed(judge(scripted, cell_case()), "changed the output dicfo (element 5 of 84) after the call had returned");

  // A thread of the second call, which writes when the third one has begun and is over before the case ends.
  ScriptedImplementation threaded;
  std::thread late;
  threaded.after_run = [&](const backgauge_call& call) {
    if (threaded.runs != 2) return;
    late = std::thread([&runs = threaded.runs, element = &output_at(call, "wco_grad", 2)] {
      while (runs < 3) std::this_thread::yield();
      *element = 1;
    });
  };
  ExpectedOutputs expected({}, [&](const Problem& problem, const Declared& declared, RoundingErrors roundings) {
    late.join();
    return oracle(problem, declared, roundings);
  });
  expect_failed(judge(threaded, cell_case(), {.expected = &expected}),
                "changed the output wco_grad (element 2 of 7) after the call had");
}

TEST(Judge, FailsAChangedFloatingPointEnvironment) {
  ScriptedImplementation scripted;
  scripted.after_run = [&](const backgauge_call&) { std::fesetround(FE_UPWARD); };
  expect_failed(judge(scripted, cell_case()), "run left the floating-point environment changed: rounding upward");
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

#if defined(__x86_64__)
TEST(Judge, FailsRegistersOfX87AndMmxInUse) {
  const std::function<void(const backgauge_call&)> acts[] = {[](const backgauge_call&) {
                                                               asm volatile("fld1" ::: "memory");
                                                             },
                                                             [](const backgauge_call&) {
                                                               asm volatile("pxor %%mm0, %%mm0" ::: "memory");
                                                             }};
  for (const auto& act : acts) {
    ScriptedImplementation scripted;
    scripted.after_run = act;
    expect_failed(judge(scripted, cell_case()),
                  "run left the floating-point environment changed: registers of x87 or MMX in use");
    volatile long double one = 1;
    EXPECT_EQ(one + one, 2);  // not NaN
  }
}
#elif defined(__aarch64__)
TEST(Judge, FailsControlBitsOfArm) {
  struct Bit {
    int number;
    const char* what;
  };
  for (const auto& [number, what] : {Bit{24, "flushing of denormal results, denormal operands as zero"},
                                     Bit{25, "default NaNs"}, Bit{26, "alternative format of half"}}) {
    ScriptedImplementation scripted;
    scripted.after_run = [number = number](const backgauge_call&) {
      std::uint64_t word = 0;
      asm volatile("mrs %0, fpcr" : "=r"(word));
      asm volatile("msr fpcr, %0" : : "r"(word | std::uint64_t{1} << number));
    };
    expect_failed(judge(scripted, cell_case()),
                  std::string("run left the floating-point environment changed: ") + what);
    volatile float subnormal = 0x1p-130f;
    EXPECT_NE(subnormal * 1.0f, 0);  // restored
  }
}
#endif

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
    RunResult end_case() override {
      RunResult end = InProcessRunner::end_case();
      if (broken_run == 0) end.broken = "exit: status 0 after run";
      return end;
    }
    int broken_run = 0;

   private:
    int runs_ = 0;
  };
  for (const Case& c : {cell_case(), rnn_case()}) {
    for (const int broken_run : {0, 1, 2}) {
      const Filled filled = fill(c);
      ScriptedImplementation scripted;
      scripted.claim(c.op);
      Breaking runner(scripted.table);
      runner.broken_run = broken_run;
      const Verdict verdict = judge_case(runner, filled.problem, filled.facts, {});
      EXPECT_EQ(verdict.status, Status::kBroken);
      EXPECT_EQ(verdict.reason, broken_run == 0 ? "exit: status 0 after run" : "crash: SIGSEGV in run");
    }
  }
}

TEST(Judge, FailsWhatDependsOnNumbersInItsOutputs) {
  ScriptedImplementation scripted;
  float before = 0;
  scripted.before = [&](const backgauge_call& call, backgauge_message&) {
    before = output_at(call, "dicfo", 5);
    return BACKGAUGE_OK;
  };
  scripted.after_run = [&](const backgauge_call& call) {
    if (std::isfinite(before)) output_at(call, "dicfo", 5) += before;
  };
  expect_failed(judge(scripted, cell_case()), "not repeatable: dicfo[0,5]");
}

TEST(Judge, EveryTensorIsOnceAlignedToItsElementsOnly) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    ScriptedImplementation scripted;
    std::vector<std::uintptr_t> odd;
    scripted.after_run = [&](const backgauge_call& call) {
      odd.push_back(reinterpret_cast<std::uintptr_t>(&output_at(call, "dicfo", 0)) / sizeof(float) % 2);
    };
    EXPECT_EQ(judge(scripted, cell_case(), {.seed = seed}).status, Status::kPassed);
    ASSERT_EQ(odd.size(), 3u);
    EXPECT_NE(odd[0], odd[1]);
  }
}

}  // namespace
}  // namespace backgauge
