// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/independence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "properties/case/draw/inputs.h"
#include "properties/case/line/shaped_problem.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

Problem problem_of(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c) << error;
  return fill(*c).problem;
}

const char* const kNets[] = {
    "block_lstm_grad_v2 t8b12i17h20 peep=1 dt=f32 data=tame:0x1",
    "block_lstm_grad_v2 t8b12i17h20 peep=0 dt=f16 data=tame:0x2",
    "lstm_block_cell_grad b40i17h20 peep=1 dt=f32 data=tame:0x3",
    "cudnn_rnn_backprop t8b12i17h20 mode=lstm dt=f32 data=tame:0x4",
    "cudnn_rnn_backprop t8b12i17h20 mode=gru layers=2 dir=bi dt=f16 data=tame:0x5",
    "cudnn_rnn_backprop t8b12i17h20 mode=tanh dt=bf16 data=tame:0x6",
    "cudnn_rnn_backprop t8b12i17h20 mode=relu dt=f64 data=tame:0x7",
};

std::vector<double>& values_of(Problem& problem, std::string_view name) {
  return std::ranges::find(problem.inputs, name, &Tensor::name)->values;
}

// The first weights and the first data or saved tensor: what must not repeat, in every op.
std::string_view weights_of(const Problem& problem) { return spec_of(problem.op).input(Role::kWeight).name; }
std::string_view samples_of(const Problem& problem) {
  return spec_of(problem.op).input(traits_of(problem.op).takes_saved ? Role::kSaved : Role::kData).name;
}

TEST(Independence, IsGrantedToFullPrecision) {
  for (const char* const line : kNets) {
    Problem problem = problem_of(line);
    EXPECT_EQ(why_not_independent(problem, {}), "") << line;
    // What nets start with, and the gradient of a sum: these bring no rounding errors of their own.
    for (Tensor& tensor : problem.inputs) {
      const Role role = spec_of(problem.op, tensor).role;
      if (role == Role::kState || role == Role::kCellState) std::ranges::fill(tensor.values, 0);
      if (is_upstream(role)) std::ranges::fill(tensor.values, 1);
    }
    EXPECT_EQ(why_not_independent(problem, {}), "") << line;
  }
}

TEST(Independence, IsDeniedToWhatRepeats) {
  for (const char* const line : kNets) {
    const Problem random = problem_of(line);
    for (const std::string_view name : {weights_of(random), samples_of(random)}) {
      if (spec_of(random.op, *random.find(name)).rows(random.extents) <= 0) continue;  // the cell reads no weights
      const auto denied = [&](auto change) {
        Problem problem = random;
        std::vector<double>& values = values_of(problem, name);
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = round_to(problem.dtype, change(k, values));
        const std::string why = why_not_independent(problem, {});
        EXPECT_EQ(why.find("values of " + std::string(name) + " repeat up to "), 0u) << line << ": " << why;
      };
      denied([](std::size_t, const auto&) { return 0.1; });
      denied([](std::size_t k, const auto&) { return k % 3 == 0 ? -0.2 : 0.1; });  // of one significand
      denied([](std::size_t k, const auto&) { return k % 7 == 0 ? 0.3 : 0.1; });
      denied([](std::size_t k, const auto& values) { return values[k % 17]; });  // every sample, or unit, is the same
      denied([](std::size_t k, const auto& values) { return std::copysign(values[k % 40], k % 2 == 0 ? 1.0 : -1.0); });
      denied([](std::size_t k, const auto& values) { return k % 2 == 0 ? values[k / 2 % 20] : 0; });
    }
  }
}

TEST(Independence, IsDeniedWhereProductsUnderflow) {
  Problem problem = problem_of(kNets[3]);
  values_of(problem, "output_backprop")[5] = 0x1p-64;
  const std::size_t all = values_of(problem, "output_backprop").size();
  EXPECT_EQ(why_not_independent(problem, {}),
            "1 of the " + std::to_string(all) +
                " values of output_backprop are below 2^-63 and not 0, so that products of "
                "them underflow");
  values_of(problem, "output_backprop")[5] = 0x1p-63;
  EXPECT_EQ(why_not_independent(problem, {}), "");
  Problem wide = problem_of(kNets[6]);
  values_of(wide, "output_backprop")[5] = 0x1p-500;
  EXPECT_EQ(why_not_independent(wide, {}), "");
  values_of(wide, "output_backprop")[5] = 0x1p-512;
  EXPECT_NE(why_not_independent(wide, {}), "");
}

// Half loses what is below 2^-25: where it is computed in half, in every product; where it is carried in half, in
// gradients.
TEST(Independence, IsDeniedWhereHalfUnderflows) {
  Problem problem = problem_of(kNets[4]);
  const auto with = [&](const char* name, double value, backgauge_accuracy_class accuracy_class) {
    Problem changed = problem;
    for (const char* const other : {"input", "input_h", "params", "output_backprop", "output_h_backprop"}) {
      for (double& v : values_of(changed, other)) v = std::copysign(std::max(std::fabs(v), 0x1p-7), v);
    }
    values_of(changed, name)[5] = value;
    return why_not_independent(changed, {.accuracy_class = accuracy_class});
  };
  EXPECT_EQ(with("output_backprop", 0x1p-15, BACKGAUGE_CLASS_A), "");
  EXPECT_NE(with("output_backprop", 0x1p-15, BACKGAUGE_CLASS_A_PRIME), "");
  EXPECT_EQ(with("output_backprop", 0x1p-14, BACKGAUGE_CLASS_A_PRIME), "");
  EXPECT_EQ(with("params", 0x1p-15, BACKGAUGE_CLASS_A_PRIME), "");
  EXPECT_NE(with("params", 0x1p-8, BACKGAUGE_CLASS_B), "");
  EXPECT_EQ(with("params", 0x1p-7, BACKGAUGE_CLASS_B), "");
}

// Elements that are never read may hold anything.
TEST(Independence, LooksAtWhatIsRead) {
  Problem problem = problem_of("block_lstm_grad_v2 t6b9i4h5 peep=0 seq=4 dt=f32 data=tame:0x1");
  std::vector<double>& gate = values_of(problem, "o");
  std::fill(gate.begin() + 4 * 9 * 5, gate.end(), 0.1);
  std::ranges::fill(values_of(problem, "b"), 1e-30);
  EXPECT_EQ(why_not_independent(problem, {}), "");
}

}  // namespace
}  // namespace backgauge
