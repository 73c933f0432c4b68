// SPDX-License-Identifier: Apache-2.0
#include "properties/case/stored/saved_co.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

Filled filled(const std::string& line) {
  std::string error;
  Filled result = fill(parse_case(line, error).value());
  EXPECT_EQ(result.error, "") << line;
  return result;
}

TEST(SavedCo, OfGeneratedCasesIsTanhOfCsWhereTheFactsSayIt) {
  int consistent = 0, inconsistent = 0;
  for (const char* shape : {"lstm_block_cell_grad b2i3h4 peep=1", "block_lstm_grad_v2 t3b2i3h5 peep=1 seq=2",
                            "block_lstm_grad_v2 t3b2i3h5 peep=0"}) {
    for (int seed = 0; seed < 20; ++seed) {
      const Filled f = filled(std::string(shape) + " dt=f32 data=strat:0x" + std::to_string(seed));
      ++(f.facts.consistent_saved ? consistent : inconsistent);
      EXPECT_EQ(saved_co_is_tanh_of_cs(f.problem), f.facts.consistent_saved) << shape << seed;
    }
  }
  EXPECT_GT(consistent, 10);
  EXPECT_GT(inconsistent, 10);
}

TEST(SavedCo, MayDifferFromTanhByTheRoundingOfBothAndNoMore) {
  for (const char* dtype : {"f16", "f32"}) {
    const std::string shape = std::string("block_lstm_grad_v2 t3b1i1h2 peep=1 seq=2 dt=") + dtype;
    Problem problem = filled(shape + " data=training:0x1").problem;
    EXPECT_TRUE(saved_co_is_tanh_of_cs(problem));
    const auto at = [&](std::string_view name) -> std::vector<double>& {
      return std::ranges::find(problem.inputs, name, &Tensor::name)->values;
    };
    const double u = float_format(problem.dtype).unit_roundoff;
    const double co = at("co")[3], exact = std::tanh(at("cs")[3]);
    at("co")[3] = exact / (1 - 1.999 * u);
    EXPECT_TRUE(saved_co_is_tanh_of_cs(problem));
    at("co")[3] = exact / (1 - 2.001 * u);
    EXPECT_FALSE(saved_co_is_tanh_of_cs(problem));
    at("co")[3] = std::nan("");
    EXPECT_FALSE(saved_co_is_tanh_of_cs(problem));
    at("co")[3] = co;
    at("co")[4] = 2;  // beyond seq_len_max
    EXPECT_TRUE(saved_co_is_tanh_of_cs(problem));
  }
  EXPECT_TRUE(saved_co_is_tanh_of_cs(filled("cudnn_rnn_backprop t2b1i1h1 mode=gru dt=f32 data=strat:0x1").problem));
}

}  // namespace
}  // namespace backgauge
