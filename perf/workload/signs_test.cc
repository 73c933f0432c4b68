// SPDX-License-Identifier: Apache-2.0
// With flipped inputs, the oracle's answer is the same as before, with flipped signs.
#include "perf/workload/signs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "properties/case/draw/inputs.h"
#include "reference/contract/storage.h"
#include "reference/oracle.h"

namespace backgauge {
namespace {

Problem problem_of(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << error;
  Filled filled = fill(*c);
  EXPECT_EQ(filled.error, "");
  draw_dropout_masks(*c, filled.problem);
  return filled.problem;
}

const char* const kLines[] = {
    "lstm_block_cell_grad b3i5h7 peep=0 dt=f32 data=strat:0x1",
    "lstm_block_cell_grad b3i0h7 peep=1 dt=f16 data=strat:0x1",
    "block_lstm_grad_v2 t4b3i5h2 peep=1 seq=3 dt=f32 data=strat:0x1",
    "block_lstm_grad_v2 t4b3i5h3 peep=0 clip=1 dt=f16 data=strat:0x2",
    "block_lstm_grad_v2 t3b2i2h3 peep=1 dt=f32 data=inf:0x3",
    "cudnn_rnn_backprop t3b2i5h4 mode=lstm dir=bi layers=3 drop=0.5 dt=f32 data=strat:0x1",
    "cudnn_rnn_backprop t3b2i5h4 mode=gru dir=bi layers=2 dt=f64 data=strat:0x1",
    "cudnn_rnn_backprop t3b2i5h4 mode=tanh dir=uni layers=2 dt=f32 data=strat:0x1",
    "cudnn_rnn_backprop t3b2i5h4 mode=relu dir=bi layers=2 dt=f32 data=strat:0x1",
    "cudnn_rnn_backprop t3b2i4h4 mode=gru dir=bi layers=2 in=skip dt=f32 data=strat:0x1",
    "cudnn_rnn_backprop t3b2i4h4 mode=tanh dir=uni layers=2 in=skip dt=f16 data=strat:0x1",
};

TEST(Signs, ChangeWhatIsRightInItsSignAlone) {
  for (const char* line : kLines) {
    const Problem problem = problem_of(line);
    const std::vector<Wanted> before = oracle(problem, {}, RoundingErrors::kIndependent);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Signs signs(problem, seed);
      Problem turned = problem;
      std::size_t changed = 0;
      for (std::size_t k = 0; k < turned.inputs.size(); ++k) {
        std::vector<double>& values = turned.inputs[k].values;
        signs.apply(turned.inputs[k].name, values);
        for (std::size_t j = 0; j < values.size(); ++j) {
          changed += std::memcmp(&values[j], &problem.inputs[k].values[j], sizeof values[j]) != 0;
        }
      }
      EXPECT_GT(changed, 0u) << line;
      const std::vector<Wanted> after = oracle(turned, {}, RoundingErrors::kIndependent);
      ASSERT_EQ(after.size(), before.size());
      for (std::size_t k = 0; k < after.size(); ++k) {
        std::vector<double> sign(before[k].value.size(), 1);
        signs.apply(after[k].name, sign);
        for (std::size_t j = 0; j < sign.size(); ++j) {
          const long double expected = sign[j] * before[k].value[j];
          if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(after[k].value[j])) << line << " " << after[k].name << " " << j;
          } else {
            EXPECT_EQ(after[k].value[j], expected) << line << " " << after[k].name << " " << j;
          }
        }
      }
    }
  }
}

TEST(Signs, StoredAndInDoubleAreTheSame) {
  for (const char* line : kLines) {
    const Problem problem = problem_of(line);
    const Signs signs(problem, 7);
    for (const Tensor& tensor : problem.inputs) {
      if (tensor.name == "seq_len_max") continue;
      std::vector<double> values = tensor.values;
      std::vector<std::byte> bytes(values.size() * backgauge_dtype_bytes(problem.dtype)), wanted(bytes.size());
      encode(problem.dtype, values, bytes.data());
      signs.apply(tensor.name, values);
      signs.apply(tensor.name, problem.dtype, bytes);
      encode(problem.dtype, values, wanted.data());
      EXPECT_EQ(bytes, wanted) << line << " " << tensor.name;
      signs.apply(tensor.name, problem.dtype, bytes);
      encode(problem.dtype, tensor.values, wanted.data());
      EXPECT_EQ(bytes, wanted) << line << " " << tensor.name;
    }
  }
}

// A cache of weights becomes stale, just like a cache of answers.
TEST(Signs, ChangeEveryInputThatIsRead) {
  for (const char* line : {kLines[0], kLines[2], kLines[5], kLines[6], kLines[7]}) {
    const Problem problem = problem_of(line);
    for (const Tensor& tensor : problem.inputs) {
      bool changed = false;
      for (const std::uint64_t seed : {1, 2, 3, 4}) {
        std::vector<double> values(tensor.values.size(), 1);
        Signs(problem, seed).apply(tensor.name, values);
        changed = changed || std::ranges::count(values, -1) > 0;
      }
      const bool gates = tensor.name == "i" || tensor.name == "f" || tensor.name == "o";
      EXPECT_EQ(changed, !gates && tensor.name != "seq_len_max") << line << " " << tensor.name;
    }
  }
}

// Even where the op has a tensor for which another op has a rule.
TEST(Signs, OfATensorThatNobodyDescribesAreNotKept) {
  for (const auto& [line, name] : {std::pair{kLines[0], "h"}, {kLines[2], "dicfo"}, {kLines[5], "w"}}) {
    std::vector<double> values(4, 1);
    EXPECT_THROW(Signs(problem_of(line), 1).apply(name, values), std::logic_error) << line << " " << name;
  }
}

// The outputs of the training forward are computed again.
TEST(Signs, OfForwardOutputsStay) {
  const Signs signs(problem_of(kLines[5]), 1);
  for (const char* name : {"output", "output_h", "output_c", "reserve_space"}) {
    std::vector<double> values(4, 1);
    signs.apply(name, values);
    EXPECT_EQ(values, std::vector<double>(4, 1)) << name;
  }
}

}  // namespace
}  // namespace backgauge
