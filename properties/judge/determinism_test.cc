// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/determinism.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "properties/case/draw/inputs.h"
#include "reference/contract/claims.h"

namespace backgauge {
namespace {

enum class Depends { kNothing, kThreads, kAddress, kWorkspace, kTime, kProcess, kRefuses } depends;
int process = 0;  // simulates processes: a runner that starts another one increments it

backgauge_status prepare(const backgauge_call*, backgauge_plan* plan, backgauge_message*) {
  plan->workspace_bytes = 64;
  plan->workspace_alignment = 1;
  return BACKGAUGE_OK;
}

// Outputs are 0, except the last element of the last one: it holds what results depend on.
backgauge_status answer(const backgauge_call* call, backgauge_message*) {
  static std::atomic<int> calls{0};
  if (depends == Depends::kRefuses) return BACKGAUGE_INTERNAL;
  for (std::int32_t k = 0; k < call->num_outputs; ++k) {
    std::memset(call->outputs[k].data, 0, 4 * static_cast<std::size_t>(backgauge_elements(&call->outputs[k])));
  }
  const backgauge_tensor& last = call->outputs[call->num_outputs - 1];
  float value = 0;
  if (depends == Depends::kThreads) value = static_cast<float>(call->num_threads == 33);
  if (depends == Depends::kAddress) value = static_cast<float>(reinterpret_cast<std::uintptr_t>(last.data) % 64);
  if (depends == Depends::kWorkspace) value = static_cast<float>(static_cast<const unsigned char*>(call->workspace)[3]);
  if (depends == Depends::kTime) value = static_cast<float>(++calls % 16 == 0);
  if (depends == Depends::kProcess) value = static_cast<float>(process);
  static_cast<float*>(last.data)[backgauge_elements(&last) - 1] = value;
  return BACKGAUGE_OK;
}

class RenewingRunner : public InProcessRunner {
 public:
  using InProcessRunner::InProcessRunner;
  bool renew() override { return ++process > 0; }
};

Repeats measured(Depends on) {
  depends = on;
  static const ClaimArrays claims({Claims(BACKGAUGE_LSTM_BLOCK_CELL_GRAD)});
  backgauge_implementation table{};
  table.num_claims = claims.size();
  table.claims = claims.data();
  table.prepare = prepare;
  table.run = answer;
  std::string error;
  const Filled filled = fill(*parse_case("lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x1", error));
  RenewingRunner runner(table);
  return measure_determinism(runner, filled.problem, 1);
}

TEST(Determinism, IsWhatTheBitsDependOn) {
  EXPECT_EQ(measured(Depends::kNothing).measured, Determinism::kBitwise);
  EXPECT_EQ(measured(Depends::kNothing).difference, "");
  EXPECT_EQ(measured(Depends::kNothing).runs, 201);
  EXPECT_EQ(measured(Depends::kThreads).measured, Determinism::kPerThreadCount);
  EXPECT_EQ(measured(Depends::kThreads).difference, "wco_grad[6]: 0, then 1 with 33 threads");
  EXPECT_EQ(measured(Depends::kAddress).measured, Determinism::kPerMemoryPlacement);
  EXPECT_EQ(measured(Depends::kWorkspace).measured, Determinism::kPerMemoryPlacement);
  EXPECT_EQ(measured(Depends::kProcess).measured, Determinism::kPerProcess);
  EXPECT_EQ(measured(Depends::kTime).measured, Determinism::kRunToRun);
}

TEST(Determinism, OfCallsThatFailIsNotMeasured) { EXPECT_EQ(measured(Depends::kRefuses).runs, 0); }

TEST(Determinism, ClaimsAreComparedWithIt) {
  for (const Determinism measured :
       {Determinism::kBitwise, Determinism::kPerThreadCount, Determinism::kPerMemoryPlacement, Determinism::kPerProcess,
        Determinism::kRunToRun}) {
    EXPECT_EQ(overclaims(BACKGAUGE_BITWISE, measured), measured != Determinism::kBitwise);
    EXPECT_EQ(overclaims(BACKGAUGE_BITWISE_PER_THREAD_COUNT, measured), measured > Determinism::kPerThreadCount);
    EXPECT_FALSE(overclaims(BACKGAUGE_NOT_DETERMINISTIC, measured));
  }
}

}  // namespace
}  // namespace backgauge
