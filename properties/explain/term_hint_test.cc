// SPDX-License-Identifier: Apache-2.0
#include "properties/explain/term_hint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

Problem problem_of(const char* line) {
  std::string error;
  Filled filled = fill(*parse_case(line, error));
  EXPECT_EQ(filled.error, "");
  return std::move(filled.problem);
}

std::vector<Wanted> outputs_of(const Problem& problem) { return oracle(problem, {}, RoundingErrors::kIndependent); }

// The outputs as a float32 implementation stores them.
std::vector<Values64> in_float32(const std::vector<Wanted>& outputs) {
  std::vector<Values64> out;
  for (const Wanted& output : outputs) {
    Values64& values = out.emplace_back();
    for (const long double value : output.value) values.push_back(static_cast<double>(static_cast<float>(value)));
  }
  return out;
}

const std::vector<double>& values_of(const Problem& problem, const char* tensor) {
  return problem.find(tensor)->values;
}

TEST(TermHint, NamesTheTermOfACell) {
  const Problem problem = problem_of("lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37");
  const std::vector<Wanted> wanted = outputs_of(problem);
  // cs_prev_grad, the first output, is dcs f + di wci + df wcf.
  const auto with = [&](double factor) {
    std::vector<Wanted> wrong = wanted;
    for (std::size_t k = 0; k < wrong[0].value.size(); ++k) {
      wrong[0].value[k] += factor * wanted[1].value[k / 7 * 28 + k % 7] * values_of(problem, "wci")[k % 7];
    }
    return term_hint(problem, wanted, in_float32(wrong));
  };
  ASSERT_EQ(wanted[0].name, "cs_prev_grad");
  ASSERT_EQ(wanted[1].name, "dicfo");
  EXPECT_TRUE(with(-1).starts_with("the term 'di wci' is missing (to ")) << with(-1);
  EXPECT_TRUE(with(1).starts_with("the term 'di wci' is counted twice (to ")) << with(1);
  EXPECT_TRUE(with(-2).starts_with("the term 'di wci' has the wrong sign (to ")) << with(-2);
  EXPECT_EQ(with(-0.9), "");
  EXPECT_EQ(with(0), "");
}

// The gradients that an implementation with a wrong term computes are those of the same problem with other inputs.
struct Example {
  const char* line;
  const char* tensor;  // an input, whose elements from `begin` to `end` are multiplied
  std::size_t begin, end;
  double factor;
  const char* expected;
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.expected; }

class TermHintOfSteps : public testing::TestWithParam<Example> {};

TEST_P(TermHintOfSteps, NamesTheTermThatOtherStepsDependOn) {
  const Problem problem = problem_of(GetParam().line);
  const std::vector<Wanted> wanted = outputs_of(problem);
  Problem other = problem;
  std::vector<double>& values = std::ranges::find(other.inputs, GetParam().tensor, &Tensor::name)->values;
  for (std::size_t k = GetParam().begin; k < GetParam().end; ++k) values[k] *= GetParam().factor;
  std::vector<Values64> got = in_float32(outputs_of(other));
  const std::string text = term_hint(problem, wanted, got);
  EXPECT_TRUE(text.starts_with(GetParam().expected)) << text;
  got.back().back() *= 1.1;
  EXPECT_EQ(term_hint(problem, wanted, got), "") << "one element of one output has another error";
}

// params of a net: W [G*H, I], R [G*H, H], bW, bR.
INSTANTIATE_TEST_SUITE_P(
    OfOps, TermHintOfSteps,
    testing::Values(Example{"block_lstm_grad_v2 t3b2i3h4 peep=1 order=ifco seq=3 dt=f32 data=strat:0x5", "h_grad", 0,
                            16, 0, "the term 'h_grad' is missing (to "},
                    Example{"cudnn_rnn_backprop t3b2i3h4 mode=lstm dir=uni layers=1 in=linear dt=f32 data=strat:0x7",
                            "output_backprop", 0, 24, -1, "the term 'output_backprop' has the wrong sign (to "},
                    Example{"cudnn_rnn_backprop t3b2i3h4 mode=gru dir=uni layers=1 in=linear dt=f32 data=strat:0x7",
                            "output_h_backprop", 0, 8, 0.5, "the term 'output_h_backprop' is halved (to "},
                    Example{"cudnn_rnn_backprop t2b2i3h4 mode=relu dir=uni layers=1 in=linear dt=f32 data=strat:0x8",
                            "params", 28, 32, 2, "the term 'bW' is counted twice (to "}));

}  // namespace
}  // namespace backgauge
