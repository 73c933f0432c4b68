// SPDX-License-Identifier: Apache-2.0
// An implementation of another project, judged in a GoogleTest of that project: LSTMBlockCellGrad in float32, without
// peepholes.
#include "properties/judge/judge.h"

#include <gtest/gtest.h>

#include <string>

#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/verdict_text.h"
#include "reference/contract/validate.h"

namespace {

const float* in(const backgauge_call& call, const char* name) {
  return static_cast<const float*>(backgauge_find(call.inputs, call.num_inputs, name)->data);
}

float* out(const backgauge_call& call, const char* name) {
  return static_cast<float*>(backgauge_find(call.outputs, call.num_outputs, name)->data);
}

// forget: the factor f that dcs takes along to the step before. A wrong implementation leaves it out.
template <bool kForget>
backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  const backgauge_status status = backgauge::host().validate(call, 0, message);
  if (status != BACKGAUGE_OK) return status;
  const std::int64_t* shape = backgauge_find(call->inputs, call->num_inputs, "cs_prev")->shape;
  const float *i = in(*call, "i"), *f = in(*call, "f"), *o = in(*call, "o"), *ci = in(*call, "ci"),
              *co = in(*call, "co");
  const float *cs_prev = in(*call, "cs_prev"), *cs_grad = in(*call, "cs_grad"), *h_grad = in(*call, "h_grad");
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      const std::int64_t k = b * shape[1] + j;
      const float dcs = (1 - co[k] * co[k]) * h_grad[k] * o[k] + cs_grad[k];
      float* gates = out(*call, "dicfo") + b * 4 * shape[1] + j;
      gates[0] = i[k] * (1 - i[k]) * dcs * ci[k];
      gates[shape[1]] = (1 - ci[k] * ci[k]) * dcs * i[k];
      gates[2 * shape[1]] = f[k] * (1 - f[k]) * dcs * cs_prev[k];
      gates[3 * shape[1]] = o[k] * (1 - o[k]) * h_grad[k] * co[k];
      out(*call, "cs_prev_grad")[k] = kForget ? dcs * f[k] : dcs;
    }
  }
  for (const char* peephole : {"wci_grad", "wcf_grad", "wco_grad"}) {
    for (std::int64_t j = 0; j < shape[1]; ++j) out(*call, peephole)[j] = 0;
  }
  return BACKGAUGE_OK;
}

constexpr backgauge_claim kClaims[] = {{"dtypes", BACKGAUGE_BIT(BACKGAUGE_FLOAT32), 0, 0},
                                       {"use_peephole", BACKGAUGE_BIT(0), 0, 0},
                                       {"numerical_contract", BACKGAUGE_FP32_STRICT, 0, 0},
                                       {"determinism", BACKGAUGE_BITWISE, 0, 0}};
constexpr backgauge_op_claims kOpClaims = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, std::size(kClaims), kClaims};

template <bool kForget>
constexpr backgauge_implementation kTable = {.abi = BACKGAUGE_ABI,
                                             .struct_size = sizeof(backgauge_implementation),
                                             .name = "own",
                                             .version = "1",
                                             .description = "a stranger's cell",
                                             .memory_space = BACKGAUGE_HOST,
                                             .num_claims = 1,
                                             .claims = &kOpClaims,
                                             .run = run<kForget>};

backgauge::Verdict judged(const backgauge_implementation& table, const char* line) {
  std::string error;
  const auto problem_case = backgauge::parse_case(line, error);
  if (!problem_case) return {backgauge::Status::kBroken, error, {}};
  const backgauge::Filled filled = backgauge::fill(*problem_case);
  return backgauge::judge_case(table, filled.problem, filled.facts, {});
}

class OwnCell : public testing::TestWithParam<const char*> {};

TEST_P(OwnCell, ConformsOnlyIfItIsRight) {
  const backgauge::Verdict right = judged(kTable<true>, GetParam());
  EXPECT_EQ(right.status, backgauge::Status::kPassed) << backgauge::verdict_text(right);
  EXPECT_EQ(judged(kTable<false>, GetParam()).status, backgauge::Status::kFailed);
}

// `backgauge list --cases` prints more.
INSTANTIATE_TEST_SUITE_P(Cases, OwnCell,
                         testing::Values("lstm_block_cell_grad b3i5h7 peep=0 dt=f32 data=strat:0x9e37",
                                         "lstm_block_cell_grad b2i1h33 peep=0 dt=f32 data=saturated:0x17"));

}  // namespace
