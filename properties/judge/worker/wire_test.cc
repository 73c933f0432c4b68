// SPDX-License-Identifier: Apache-2.0
// Replies of a worker are untrusted: each truncated reply, and each with a changed byte, is read without harm.
#include <gtest/gtest.h>

#include "properties/case/draw/inputs.h"
#include "properties/judge/testing/scripted_implementation.h"
#include "properties/judge/worker/messages.h"

namespace backgauge {
namespace {

Problem cell_problem() {
  Case c;
  c.B = 2;
  c.I = 3;
  c.H = 1;
  c.seed = 7;
  return fill(c).problem;
}

std::vector<std::byte> bytes_of(const Writer& writer) { return {writer.bytes().begin(), writer.bytes().end()}; }

TEST(Wire, ARequestArrivesAsItWasSent) {
  const Problem problem = cell_problem();
  RunOptions options;
  options.num_threads = 5;
  options.changed_inputs = {"reserve_space"};
  options.shared_outputs = {"cs_prev_grad", "wci_grad"};
  const std::vector<RawTensor> raw{{"x", {2, 1}, {std::byte{1}, std::byte{2}}}};
  const std::optional<Request> request = from_wire<Request>(to_wire(problem, raw, options).bytes());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->problem.op, problem.op);
  EXPECT_EQ(request->problem.extents.H, 1);
  ASSERT_EQ(request->problem.inputs.size(), problem.inputs.size());
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
    EXPECT_EQ(request->problem.inputs[k].name, problem.inputs[k].name);
    EXPECT_EQ(request->problem.inputs[k].shape, problem.inputs[k].shape);
  }
  EXPECT_EQ(request->problem.inputs[1].values, problem.inputs[1].values);
  ASSERT_EQ(request->raw.size(), 1u);
  EXPECT_EQ(request->raw[0].bytes, raw[0].bytes);
  EXPECT_EQ(request->options.num_threads, 5);
  EXPECT_EQ(request->options.changed_inputs, options.changed_inputs);
  EXPECT_EQ(request->options.shared_outputs, options.shared_outputs);
}

TEST(Wire, AnAnswerIsTakenAsItFitsTheProblem) {
  const Problem problem = cell_problem();
  testing::ScriptedImplementation scripted;
  const RunResult result = InProcessRunner(scripted.table).run(problem, {}, {});
  const auto there_and_back = [&](const RunResult& sent) { return run_result_from(to_wire(sent).bytes(), problem); };
  const std::optional<RunResult> same = there_and_back(result);
  ASSERT_TRUE(same);
  ASSERT_EQ(same->outputs.size(), result.outputs.size());
  for (std::size_t k = 0; k < result.outputs.size(); ++k) {
    EXPECT_EQ(same->outputs[k].values, result.outputs[k].values);
    EXPECT_EQ(same->outputs[k].raw.bytes, result.outputs[k].raw.bytes);
  }
  const auto refused = [&](const std::function<void(RunResult&)>& damage) {
    RunResult damaged = result;
    damage(damaged);
    return !there_and_back(damaged);
  };
  EXPECT_TRUE(refused([](RunResult& r) { r.outputs.pop_back(); }));
  EXPECT_TRUE(refused([](RunResult& r) { r.outputs.push_back(r.outputs[0]); }));
  EXPECT_TRUE(refused([](RunResult& r) { r.outputs[0].raw.name = "dicfo"; }));
  EXPECT_TRUE(refused([](RunResult& r) { r.outputs[0].raw.shape[0] = std::int64_t{1} << 62; }));
  EXPECT_TRUE(refused([](RunResult& r) { r.outputs[0].raw.bytes.pop_back(); }));
  EXPECT_TRUE(refused([](RunResult& r) { r.outputs[0].unwritten.pop_back(); }));
  EXPECT_TRUE(refused([](RunResult& r) { r.reserve_length = -1; }));
}

TEST(Wire, NoByteOfAnAnswerIsTrusted) {
  const Problem problem = cell_problem();
  testing::ScriptedImplementation scripted;
  const std::vector<std::byte> answer = bytes_of(to_wire(InProcessRunner(scripted.table).run(problem, {}, {})));
  int refused = 0;
  for (std::size_t k = 0; k < answer.size(); ++k) {
    EXPECT_FALSE(run_result_from(std::span(answer).first(k), problem));
    for (const unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu}) {
      std::vector<std::byte> damaged = answer;
      damaged[k] = static_cast<std::byte>(value);
      refused += run_result_from(damaged, problem) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Wire, NoByteOfAnIntroductionIsTrusted) {
  testing::ScriptedImplementation scripted;
  const std::vector<std::byte> said = bytes_of(to_wire(introduction(scripted.table)));
  for (std::size_t k = 0; k < said.size(); ++k) {
    EXPECT_FALSE(introduction_from(std::span(said).first(k)));
    for (const unsigned value : {0x00u, 0x7fu, 0xffu}) {
      std::vector<std::byte> damaged = said;
      damaged[k] = static_cast<std::byte>(value);
      const std::optional<Introduction> read = introduction_from(damaged);
      EXPECT_LE(read ? read->claims.size() : 0, 1u);
    }
  }
}

}  // namespace
}  // namespace backgauge
