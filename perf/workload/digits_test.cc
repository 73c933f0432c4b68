// SPDX-License-Identifier: Apache-2.0
// Other digits are other values of the same size, and what was right for one draw is wrong for the next.
#include "perf/workload/digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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
  return filled.problem;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

const char* const kLines[] = {
    "lstm_block_cell_grad b3i5h7 peep=1 dt=f16 data=strat:0x1",
    "block_lstm_grad_v2 t4b3i5h6 peep=1 seq=3 dt=f32 data=strat:0x1",
    "cudnn_rnn_backprop t3b2i5h4 mode=lstm layers=1 dt=bf16 data=strat:0x3",
    "cudnn_rnn_backprop t3b2i5h4 mode=gru dir=bi layers=2 dt=f64 data=strat:0x1",
};

TEST(Digits, ChangeMostValuesAndNoSignsOrSizes) {
  for (const char* line : kLines) {
    const Problem problem = problem_of(line);
    const Problem other = Digits(problem, Fresh::kEverything, 7).in(problem);
    std::size_t changed = 0, all = 0;
    for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
      for (std::size_t j = 0; j < problem.inputs[k].values.size(); ++j) {
        const double before = problem.inputs[k].values[j], after = other.inputs[k].values[j];
        ++all;
        if (same_bits(before, after) || std::isnan(before)) continue;
        ++changed;
        EXPECT_EQ(std::signbit(before), std::signbit(after));
        EXPECT_EQ(std::ilogb(before), std::ilogb(after)) << line << " " << problem.inputs[k].name;
        EXPECT_EQ(after, round_to(problem.dtype, after));
      }
    }
    EXPECT_GT(changed, all / 10) << line;
  }
}

TEST(Digits, GiveOtherOutputs) {
  for (const char* line : kLines) {
    const Problem problem = problem_of(line);
    for (const Fresh fresh : {Fresh::kEverything, Fresh::kUpstream}) {
      const std::vector<Wanted> one = oracle(Digits(problem, fresh, 1).in(problem), {}, RoundingErrors::kIndependent);
      const std::vector<Wanted> two = oracle(Digits(problem, fresh, 2).in(problem), {}, RoundingErrors::kIndependent);
      std::size_t differ = 0, all = 0;
      for (std::size_t k = 0; k < one.size(); ++k) {
        for (std::size_t j = 0; j < one[k].value.size(); ++j) {
          if (one[k].value[j] == 0 || std::isnan(one[k].value[j])) continue;
          ++all;
          differ += std::fabs(one[k].value[j] - two[k].value[j]) > one[k].allowed[j] + two[k].allowed[j] ? 1 : 0;
        }
      }
      EXPECT_GT(differ, all / 2) << line;
    }
  }
}

TEST(Digits, OfWhatAForwardHasSavedStay) {
  const Problem problem = problem_of("block_lstm_grad_v2 t4b3i5h6 peep=1 seq=3 dt=f32 data=training:0x1");
  const Problem all = Digits(problem, Fresh::kEverything, 3).in(problem);
  const Problem upstream = Digits(problem, Fresh::kUpstream, 3).in(problem);
  const auto same = [&](const Problem& other, const char* name) {
    return std::ranges::equal(other.find(name)->values, problem.find(name)->values, same_bits);
  };
  for (const char* name : {"i", "cs", "co", "h", "seq_len_max"}) EXPECT_TRUE(same(all, name)) << name;
  for (const char* name : {"x", "w", "cs_prev", "h_grad"}) EXPECT_FALSE(same(all, name)) << name;
  for (const char* name : {"x", "w", "cs_prev", "cs"}) EXPECT_TRUE(same(upstream, name)) << name;
  EXPECT_FALSE(same(upstream, "h_grad"));
}

TEST(Digits, TwiceAreNone) {
  const Problem problem = problem_of(kLines[1]);
  const Digits digits(problem, Fresh::kEverything, 5);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_BFLOAT16, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64}) {
    std::vector<double> values{0, -0.0, 1, -2, 0.5, infinity, -infinity};
    const std::size_t kept = values.size();
    for (int k = 1; k < 1000; ++k) values.push_back(round_to(dtype, 1.0 / k - 0.3));
    std::vector<std::byte> bytes(values.size() * backgauge_dtype_bytes(dtype));
    encode(dtype, values, bytes.data());
    const std::vector<std::byte> before = bytes;
    std::vector<double> after(values.size());
    digits.apply("h_grad", dtype, bytes);
    decode(dtype, bytes.data(), after);
    for (std::size_t k = 0; k < kept; ++k) EXPECT_TRUE(same_bits(after[k], values[k])) << k;
    EXPECT_NE(bytes, before);
    digits.apply("h_grad", dtype, bytes);
    EXPECT_EQ(bytes, before);
  }
}

}  // namespace
}  // namespace backgauge
