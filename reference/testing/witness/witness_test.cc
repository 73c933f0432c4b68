// SPDX-License-Identifier: Apache-2.0
// The witness where everything has one element: results worked out by hand.
#include "reference/testing/witness/witness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace backgauge {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Values = std::vector<double>;

// The witness' tensor of that name; its magnitudes are never below its values.
Values result(const Problem& problem, const std::string& name) {
  for (const auto& tensor : witness(problem)) {
    if (tensor.name != name) continue;
    for (std::size_t k = 0; k < tensor.value.size(); ++k) EXPECT_LE(std::abs(tensor.value[k]), tensor.magnitude[k]);
    return tensor.value;
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

// Every number here is a small multiple of a power of two: results are exact.
Values over(double denominator, Values numerators) {
  for (double& value : numerators) value /= denominator;
  return numerators;
}

// do  = o (1 - o) co h_grad                          = 3/16 * 1/4 * 2         = 3/32
// dcs = cs_grad + h_grad o (1 - co co) [+ do wco]    = 4/32 + 45/32 [+ 9/32]  = 49/32 [58/32]
// di  = i (1 - i) ci dcs                             = -3/32 dcs              = -147/1024 [-87/512]
// dci = (1 - ci ci) i dcs                            =  3/16 dcs              =  147/512  [ 87/256]
// df  = f (1 - f) cs_prev dcs                        =  1/8 dcs               =   49/256  [ 29/128]
Problem one_cell(bool peephole) {
  Problem problem;
  problem.op = BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
  problem.attributes.use_peephole = peephole;
  problem.extents = {.T = 1, .B = 1, .I = 1, .H = 1, .peephole = peephole};
  const auto only_peephole = [&](double value) { return Values{peephole ? value : kNan}; };
  problem.inputs = {{"x", {1, 1}, {kNan}},          {"cs_prev", {1, 1}, {0.5}},
                    {"h_prev", {1, 1}, {kNan}},     {"w", {2, 4}, Values(8, kNan)},
                    {"wci", {1}, only_peephole(2)}, {"wcf", {1}, only_peephole(-1)},
                    {"wco", {1}, only_peephole(3)}, {"b", {4}, Values(4, kNan)},
                    {"i", {1, 1}, {0.25}},          {"cs", {1, 1}, only_peephole(0.625)},
                    {"f", {1, 1}, {0.5}},           {"o", {1, 1}, {0.75}},
                    {"ci", {1, 1}, {-0.5}},         {"co", {1, 1}, {0.25}},
                    {"cs_grad", {1, 1}, {0.125}},   {"h_grad", {1, 1}, {2}}};
  return problem;
}

TEST(LstmBlockCellGradWitness, ByHandWithPeephole) {
  const Problem problem = one_cell(true);
  EXPECT_EQ(result(problem, "dicfo"), over(512, {-87, 174, 116, 48}));
  EXPECT_EQ(result(problem, "cs_prev_grad"), over(256, {232 - 87 - 58}));  // dcs f + di wci + df wcf
  EXPECT_EQ(result(problem, "wci_grad"), over(1024, {-87}));
  EXPECT_EQ(result(problem, "wcf_grad"), over(256, {29}));
  EXPECT_EQ(result(problem, "wco_grad"), over(256, {15}));
}

TEST(LstmBlockCellGradWitness, ByHandWithoutPeephole) {
  const Problem problem = one_cell(false);
  EXPECT_EQ(result(problem, "dicfo"), over(1024, {-147, 294, 196, 96}));
  EXPECT_EQ(result(problem, "cs_prev_grad"), over(64, {49}));
  for (const char* name : {"wci_grad", "wcf_grad", "wco_grad"}) EXPECT_EQ(result(problem, name), Values{0});
}

// Step 0 of two is the cell above; nothing of step 1 is read.
TEST(BlockLstmGradV2Witness, ByHandOneOfTwoStepsWithPeephole) {
  Problem problem;
  problem.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  problem.extents = {.T = 2, .B = 1, .I = 1, .H = 1, .S = 1, .peephole = true};
  problem.inputs = {{"seq_len_max", {}, {1}},
                    {"x", {2, 1, 1}, {2, kNan}},
                    {"cs_prev", {1, 1}, {0.5}},
                    {"h_prev", {1, 1}, {-1}},
                    {"w", {2, 4}, {1, 2, 3, 4, -1, 0.5, 2, -2}},
                    {"wci", {1}, {2}},
                    {"wcf", {1}, {-1}},
                    {"wco", {1}, {3}},
                    {"b", {4}, Values(4, kNan)},
                    {"i", {2, 1, 1}, {0.25, kNan}},
                    {"cs", {2, 1, 1}, {0.625, kNan}},
                    {"f", {2, 1, 1}, {0.5, kNan}},
                    {"o", {2, 1, 1}, {0.75, kNan}},
                    {"ci", {2, 1, 1}, {-0.5, kNan}},
                    {"co", {2, 1, 1}, {0.25, kNan}},
                    {"h", {2, 1, 1}, {kNan, kNan}},
                    {"cs_grad", {2, 1, 1}, {0.125, kNan}},
                    {"h_grad", {2, 1, 1}, {2, kNan}}};
  EXPECT_EQ(result(problem, "b_grad"), over(512, {-87, 116, 174, 48}));
  EXPECT_EQ(result(problem, "w_grad"), over(512, {-174, 232, 348, 96, 87, -116, -174, -48}));
  EXPECT_EQ(result(problem, "x_grad"), over(512, {-87 + 2 * 116 + 3 * 174 + 4 * 48, 0}));
  EXPECT_EQ(result(problem, "h_prev_grad"), over(512, {87 + 58 + 2 * 174 - 2 * 48}));
  EXPECT_EQ(result(problem, "cs_prev_grad"), over(256, {87}));
  EXPECT_EQ(result(problem, "wci_grad"), over(1024, {-87}));
  EXPECT_EQ(result(problem, "wcf_grad"), over(256, {29}));
  EXPECT_EQ(result(problem, "wco_grad"), over(256, {15}));
}

// Step 1: do = -1/4, dcs = 1 + 3/4 = 7/4, di = 7/32, dci = 21/32, df = 21/128
//   carried: cs 7/4 * 1/4 = 7/16, h = -di + df/2 + 2 dci - 2 do = 429/256
// Step 0: cs_grad 1/16 + 7/16 = 1/2, h_grad 83/256 + 429/256 = 2
//   do = 3/16, dcs = 1/2 + 3/8 = 7/8, di = 21/512, dci = 315/512, df = 7/16
TEST(BlockLstmGradV2Witness, ByHandTwoSteps) {
  Problem problem;
  problem.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  problem.extents = {.T = 2, .B = 1, .I = 1, .H = 1, .S = 2};
  problem.inputs = {{"seq_len_max", {}, {2}},
                    {"x", {2, 1, 1}, {2, -3}},
                    {"cs_prev", {1, 1}, {2}},
                    {"h_prev", {1, 1}, {-1}},
                    {"w", {2, 4}, {1, 2, 3, 4, -1, 0.5, 2, -2}},
                    {"wci", {1}, {kNan}},
                    {"wcf", {1}, {kNan}},
                    {"wco", {1}, {kNan}},
                    {"b", {4}, Values(4, kNan)},
                    {"i", {2, 1, 1}, {0.75, 0.5}},
                    {"cs", {2, 1, 1}, {0.5, kNan}},
                    {"f", {2, 1, 1}, {0.5, 0.25}},
                    {"o", {2, 1, 1}, {0.25, 0.5}},
                    {"ci", {2, 1, 1}, {0.25, 0.5}},
                    {"co", {2, 1, 1}, {0.5, -0.5}},
                    {"h", {2, 1, 1}, {0.25, kNan}},
                    {"cs_grad", {2, 1, 1}, {0.0625, 1}},
                    {"h_grad", {2, 1, 1}, {83.0 / 256, 2}}};
  EXPECT_EQ(result(problem, "x_grad"), over(512, {21 + 2 * 224 + 3 * 315 + 4 * 96, 112 + 2 * 84 + 3 * 336 - 4 * 128}));
  EXPECT_EQ(result(problem, "h_prev_grad"), over(512, {-21 + 112 + 2 * 315 - 2 * 96}));
  EXPECT_EQ(result(problem, "cs_prev_grad"), over(16, {7}));
  EXPECT_EQ(result(problem, "b_grad"), over(512, {21 + 112, 224 + 84, 315 + 336, 96 - 128}));
  EXPECT_EQ(result(problem, "w_grad"), over(512, {2 * 21 - 3 * 112, 2 * 224 - 3 * 84, 2 * 315 - 3 * 336,
                                                  2 * 96 + 3 * 128, -21 + 28, -224 + 21, -315 + 84, -96 - 32}));
  for (const char* name : {"wci_grad", "wcf_grad", "wco_grad"}) EXPECT_EQ(result(problem, name), Values{0});
}

TEST(BlockLstmGradV2Witness, NoStepGivesZerosAndReadsNothing) {
  Problem problem;
  problem.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  problem.extents = {.T = 2, .B = 1, .I = 1, .H = 1, .S = 0, .peephole = true};
  const auto tensors = witness(problem);
  ASSERT_EQ(tensors.size(), 8u);
  for (const auto& tensor : tensors) {
    EXPECT_EQ(tensor.value, Values(tensor.value.size(), 0)) << tensor.name;
    EXPECT_EQ(tensor.magnitude, tensor.value) << tensor.name;
  }
}

constexpr double kX = 0.75, kH = -0.5, kC = 0.25;     // input, states
constexpr double kDy = 1.5, kDh = 0.5, kDc = -0.375;  // upstream gradients
constexpr double kTolerance = 1e-15;                  // some ten roundings of 1e-16, of numbers below 1

Problem backprop(backgauge_rnn_mode mode, backgauge_input_mode input_mode, const Extents& extents) {
  Problem problem;
  problem.op = BACKGAUGE_CUDNN_RNN_BACKPROP;
  problem.attributes.rnn_mode = mode;
  problem.attributes.input_mode = input_mode;
  problem.attributes.direction = extents.D == 2 ? BACKGAUGE_BIDIRECTIONAL : BACKGAUGE_UNIDIRECTIONAL;
  problem.extents = extents;
  return problem;
}

// T = B = I = H = 1. params: W gates, R gates, bW gates, bR gates.
Problem one_step(backgauge_rnn_mode mode, Values params) {
  const std::int64_t length = std::ssize(params);
  Problem problem = backprop(mode, BACKGAUGE_LINEAR_INPUT, {.T = 1, .B = 1, .I = 1, .H = 1, .params_length = length});
  problem.inputs = {{"input", {1, 1, 1}, {kX}},
                    {"input_h", {1, 1, 1}, {kH}},
                    {"params", {length}, std::move(params)},
                    {"output_backprop", {1, 1, 1}, {kDy}},
                    {"output_h_backprop", {1, 1, 1}, {kDh}}};
  if (mode == BACKGAUGE_LSTM) {
    problem.extents.lstm = true;
    problem.inputs.push_back({"input_c", {1, 1, 1}, {kC}});
    problem.inputs.push_back({"output_c_backprop", {1, 1, 1}, {kDc}});
  }
  return problem;
}

void expect_near(const Values& got, const Values& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], kTolerance) << "element " << k;
}

Values forward(Problem problem, const std::string& name) {
  problem.op = BACKGAUGE_CUDNN_RNN;
  return result(problem, name);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(CudnnRnnBackpropWitness, ByHandTanh) {
  const Problem problem = one_step(BACKGAUGE_RNN_TANH, {0.5, -0.25, 0.125, 0.0625});
  const double h = std::tanh(0.5 * kX - 0.25 * kH + 0.125 + 0.0625);
  const double da = (kDy + kDh) * (1 - h * h);
  expect_near(forward(problem, "output"), {h});
  expect_near(forward(problem, "output_h"), {h});
  expect_near(result(problem, "input_backprop"), {0.5 * da});
  expect_near(result(problem, "input_h_backprop"), {-0.25 * da});
  expect_near(result(problem, "params_backprop"), {da * kX, da * kH, da, da});
}

TEST(CudnnRnnBackpropWitness, ByHandRelu) {
  const Problem above = one_step(BACKGAUGE_RNN_RELU, {0.5, -0.25, 0.125, 0.0625});
  EXPECT_EQ(forward(above, "output"), Values{0.6875});
  EXPECT_EQ(result(above, "input_backprop"), Values{1});
  EXPECT_EQ(result(above, "input_h_backprop"), Values{-0.5});
  EXPECT_EQ(result(above, "params_backprop"), (Values{2 * kX, 2 * kH, 2, 2}));
  for (const double bias : {-0.625, -0.75}) {  // exactly at the kink, and below
    const Problem flat = one_step(BACKGAUGE_RNN_RELU, {0.5, -0.25, 0.125, bias});
    EXPECT_EQ(forward(flat, "output"), Values{0});
    EXPECT_EQ(result(flat, "input_backprop"), Values{0});
    EXPECT_EQ(result(flat, "input_h_backprop"), Values{0});
    EXPECT_EQ(result(flat, "params_backprop"), Values(4, 0));
  }
}

TEST(CudnnRnnBackpropWitness, ByHandLstm) {
  const Values W{0.5, -0.5, 1, 0.25}, R{-1, 0.5, 0.25, 0.75}, bW{0.1, 0.2, -0.3, 0.4}, bR{0.5, -0.6, 0.7, -0.8};
  Values params = W;
  for (const Values& part : {R, bW, bR}) params.insert(params.end(), part.begin(), part.end());
  const Problem problem = one_step(BACKGAUGE_LSTM, params);

  const auto gate = [&](std::size_t g) { return W[g] * kX + R[g] * kH + bW[g] + bR[g]; };
  const double i = sigmoid(gate(0)), f = sigmoid(gate(1)), n = std::tanh(gate(2)), o = sigmoid(gate(3));
  const double c = f * kC + i * n, tc = std::tanh(c), h = o * tc;
  const double dh = kDy + kDh, dc = kDc + dh * o * (1 - tc * tc);
  const Values da{dc * n * i * (1 - i), dc * kC * f * (1 - f), dc * i * (1 - n * n), dh * tc * o * (1 - o)};

  Values want;
  for (const double factor : {kX, kH, 1.0, 1.0}) {
    for (const double a : da) want.push_back(a * factor);
  }
  expect_near(forward(problem, "output"), {h});
  expect_near(forward(problem, "output_h"), {h});
  expect_near(forward(problem, "output_c"), {c});
  expect_near(result(problem, "params_backprop"), want);
  expect_near(result(problem, "input_backprop"), {W[0] * da[0] + W[1] * da[1] + W[2] * da[2] + W[3] * da[3]});
  expect_near(result(problem, "input_h_backprop"), {R[0] * da[0] + R[1] * da[1] + R[2] * da[2] + R[3] * da[3]});
  expect_near(result(problem, "input_c_backprop"), {dc * f});
}

TEST(CudnnRnnBackpropWitness, ByHandGru) {
  const Values W{0.5, -0.5, 1}, R{-1, 0.5, 0.25}, bW{0.1, 0.2, -0.3}, bR{0.5, -0.6, 0.7};
  Values params = W;
  for (const Values& part : {R, bW, bR}) params.insert(params.end(), part.begin(), part.end());
  const Problem problem = one_step(BACKGAUGE_GRU, params);

  const auto gate = [&](std::size_t g) { return W[g] * kX + R[g] * kH + bW[g] + bR[g]; };
  const double r = sigmoid(gate(0)), z = sigmoid(gate(1)), q = R[2] * kH + bR[2];
  const double n = std::tanh(W[2] * kX + bW[2] + r * q), h = (1 - z) * n + z * kH;
  const double dh = kDy + kDh, dn = dh * (1 - z) * (1 - n * n);
  const double dr = dn * q * r * (1 - r), dz = dh * (kH - n) * z * (1 - z);

  expect_near(forward(problem, "output"), {h});
  expect_near(result(problem, "params_backprop"),
              {dr * kX, dz * kX, dn * kX, dr * kH, dz * kH, dn * r * kH, dr, dz, dn, dr, dz, dn * r});
  expect_near(result(problem, "input_backprop"), {W[0] * dr + W[1] * dz + W[2] * dn});
  expect_near(result(problem, "input_h_backprop"), {R[0] * dr + R[1] * dz + R[2] * dn * r + dh * z});
}

// The input enters the one gate as it is; backwards in time the initial state enters at the last step.
TEST(CudnnRnnBackpropWitness, ByHandSkippedInputAndReversedTime) {
  Problem problem =
      backprop(BACKGAUGE_RNN_RELU, BACKGAUGE_AUTO_SELECT, {.T = 2, .B = 1, .I = 1, .H = 1, .D = 2, .params_length = 6});
  problem.inputs = {{"input", {2, 1, 1}, {1, 2}},
                    {"input_h", {2, 1, 1}, {3, 5}},
                    {"params", {6}, {2, 4, 0.5, 0.25, 0.125, 0.0625}},  // R of both, then bW, bR of both
                    {"output_backprop", {2, 1, 2}, {1, 10, 100, 1000}},
                    {"output_h_backprop", {2, 1, 1}, {7, 11}}};
  // Forward in time: h[0] = 1 + 2 * 3 + 3/4, h[1] = 2 + 2 h[0] + 3/4. Backward: h[1] = 2 + 4 * 5 + 3/16, h[0] = ...
  EXPECT_EQ(forward(problem, "output"), (Values{7.75, 89.9375, 18.25, 22.1875}));
  EXPECT_EQ(forward(problem, "output_h"), (Values{18.25, 89.9375}));
  // da forward: [1] 100 + 7, [0] 1 + 2 * 107; backward: [0] 10 + 11, [1] 1000 + 4 * 21.
  EXPECT_EQ(result(problem, "input_backprop"), (Values{215 + 21, 107 + 1084}));
  EXPECT_EQ(result(problem, "input_h_backprop"), (Values{2 * 215, 4 * 1084}));
  EXPECT_EQ(result(problem, "params_backprop"),
            (Values{215 * 3 + 107 * 7.75, 1084 * 5 + 21 * 22.1875, 322, 322, 1105, 1105}));
}

// Two layers of identity: what is dropped stays away, what is kept is scaled. Values and gradients alike.
TEST(CudnnRnnBackpropWitness, ByHandDropout) {
  Problem problem = backprop(BACKGAUGE_RNN_RELU, BACKGAUGE_LINEAR_INPUT,
                             {.T = 2, .B = 1, .I = 1, .H = 1, .L = 2, .params_length = 8});
  problem.attributes.dropout = 0.75f;
  problem.inputs = {{"input", {2, 1, 1}, {3, 5}},
                    {"input_h", {2, 1, 1}, {0, 0}},
                    {"params", {8}, {1, 0, 1, 0, 0, 0, 0, 0}},
                    {"output_backprop", {2, 1, 1}, {1, 10}},
                    {"output_h_backprop", {2, 1, 1}, {0, 0}}};
  problem.keep = {{1, 0}};
  EXPECT_EQ(forward(problem, "output"), (Values{12, 0}));
  EXPECT_EQ(result(problem, "input_backprop"), (Values{4, 0}));
  problem.attributes.dropout = 1;
  problem.keep.clear();
  EXPECT_EQ(forward(problem, "output"), (Values{0, 0}));
  EXPECT_EQ(result(problem, "input_backprop"), (Values{0, 0}));
}

TEST(CudnnRnnBackpropWitness, ParamsMustFitTheirParts) {
  EXPECT_THROW(witness(one_step(BACKGAUGE_RNN_TANH, Values(3, 1))), std::invalid_argument);
  EXPECT_THROW(witness(one_step(BACKGAUGE_RNN_TANH, Values(5, 1))), std::invalid_argument);
}

}  // namespace
}  // namespace backgauge
