// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

Case parsed_case(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << line << "\n" << error;
  return c.value_or(Case{});
}

const auto kNever = [] { return false; };

TEST(Crew, DoesEveryPieceOnce) {
  for (const int threads : {1, 3, 16}) {
    for (const std::size_t count : {0, 1, 9, 10, 11, 1000}) {
      std::vector<std::atomic<int>> seen(count);
      Crew(threads, kNever)
          .over(
              count,
              [&](std::size_t first, std::size_t last) {
                EXPECT_LE(last - first, 10u);
                for (std::size_t k = first; k < last; ++k) ++seen[k];
              },
              10);
      for (const std::atomic<int>& times : seen) ASSERT_EQ(times, 1);
    }
  }
}

TEST(Crew, ThrowsWhatItsWorkThrows) {
  EXPECT_THROW(Crew(4, kNever).over(
                   100,
                   [](std::size_t first, std::size_t) {
                     if (first == 50) throw std::bad_alloc();
                   },
                   1),
               std::bad_alloc);
}

// Tensors of more than one piece, units that do not fill a panel, and more threads than cores.
TEST(Inputs, DoNotDependOnTheNumberOfThreads) {
  const std::string sequence = "block_lstm_grad_v2 t5b3i70h150 peep=1 dt=f32 data=";
  const std::string stack = " dir=bi layers=2 in=linear dt=f16 data=";
  std::vector<std::string> lines;
  for (const char* data : {"training", "strat", "saturated", "large", "zeros", "tiny", "huge", "scales", "sparse",
                           "constant", "plain", "lone", "nan"}) {
    for (const char* seed : {":0x1", ":0x2", ":0x3"}) lines.push_back(sequence + data + seed);
  }
  for (const char* mode : {"relu", "lstm"}) {
    for (const char* data : {"strat:0x1", "saturated:0x1", "sparse:0x1"}) {
      if (mode == std::string("relu") && data == std::string("saturated:0x1")) continue;
      lines.push_back("cudnn_rnn_backprop t3b5i90h130 mode=" + std::string(mode) + stack + data);
    }
  }
  lines.push_back("block_lstm_grad_v2 t300b2i5h6 dt=f16 data=training:0x1");
  lines.push_back("lstm_block_cell_grad b33i70h90 peep=1 dt=f16 data=strat:0x2");
  for (const std::string& line : lines) {
    const Case c = parsed_case(line);
    const Filled one = fill(c), several = fill(c, Crew(5, kNever));
    ASSERT_EQ(one.error, "") << line;
    ASSERT_EQ(one.checksum, several.checksum) << line;
    ASSERT_EQ(one.facts, several.facts) << line;
    for (std::size_t k = 0; k < one.problem.inputs.size(); ++k) {
      const std::vector<double>&mine = one.problem.inputs[k].values, &theirs = several.problem.inputs[k].values;
      ASSERT_EQ(mine.size(), theirs.size()) << line;
      ASSERT_EQ(std::memcmp(mine.data(), theirs.data(), mine.size() * sizeof(double)), 0) << line;  // NaN is NaN
    }
  }
}

// Whatever is being made: its values, its forward pass, its checksum.
TEST(Inputs, CanBeStoppedAtAnyTime) {
  const Case c = parsed_case("block_lstm_grad_v2 t5b70i600h260 dt=f16 data=training:0x1");
  for (const int threads : {1, 3}) {
    std::atomic<int> asked{0};
    fill(c, Crew(threads, [&] { return ++asked < 0; }));
    const int all = asked;
    // Fewer than this would be seconds apart in an input of a minute: 0.7 GFLOP here.
    EXPECT_GT(all, 500);
    for (const int at : {1, all / 8, all / 4, all / 2, all * 3 / 4, all - 5}) {
      asked = 0;
      EXPECT_THROW(fill(c, Crew(threads, [&] { return ++asked >= at; })), Stopped) << at << " of " << all;
      EXPECT_LE(asked, at + 2 * threads) << "goes on";
    }
  }
}

}  // namespace
}  // namespace backgauge
