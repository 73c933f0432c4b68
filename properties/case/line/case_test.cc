// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>

#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

Case parsed(std::string_view line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << line << "\n" << error;
  return c.value_or(Case{});
}

std::int64_t dimension(std::int64_t least) {
  return *rc::gen::weightedOneOf<std::int64_t>(
      {{9, rc::gen::inRange<std::int64_t>(least, 40)}, {1, rc::gen::inRange<std::int64_t>(least, INT32_MAX)}});
}

// Any case that parse_case accepts and whose line stays short enough.
Case any_case() {
  Case c;
  c.op = *rc::gen::element(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP);
  const bool cudnn = c.op == BACKGAUGE_CUDNN_RNN_BACKPROP;
  if (c.op != BACKGAUGE_LSTM_BLOCK_CELL_GRAD) c.T = dimension(cudnn ? 1 : 0);
  c.B = dimension(0);
  c.I = dimension(0);
  c.H = dimension(1);
  if (cudnn) {
    c.rnn_mode = *rc::gen::element(BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU);
    c.direction = *rc::gen::element(BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL);
    c.input_mode = *rc::gen::element(BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT);
    if (c.input_mode == BACKGAUGE_SKIP_INPUT) c.I = c.H;
    c.layers = *rc::gen::inRange<std::int64_t>(1, 9);
    c.dropout = *rc::gen::element(0.0, 1.0, 0.5, 0.1, 1.0 / 3);
    c.dtype = *rc::gen::element(BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64);
  } else {
    c.use_peephole = *rc::gen::arbitrary<bool>();
    const double clip = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
    c.cell_clip = *rc::gen::element(0.0, 3.0, 0.1, -1.0, std::isfinite(clip) ? clip : 1e-5);
    c.dtype = *rc::gen::element(BACKGAUGE_HALF, BACKGAUGE_FLOAT32);
    if (c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) c.seq_len_max = *rc::gen::inRange<std::int64_t>(0, c.T + 1);
  }
  const bool no_nonfinite = cudnn && c.rnn_mode == BACKGAUGE_RNN_RELU;
  do {
    c.data = *rc::gen::elementOf(std::vector(std::begin(kDataProfiles), std::end(kDataProfiles)));
  } while (no_nonfinite && (c.data == DataProfile::kNan || c.data == DataProfile::kInf));
  if (c.data == DataProfile::kGolden) {
    c.golden = *rc::gen::element<std::string>("block_f32_tail", "cudnn_f64_lstm_L2_bi", "a-b");
  } else {
    c.seed = *rc::gen::arbitrary<std::uint64_t>();
  }
  if (*rc::gen::arbitrary<bool>()) c.checksum = *rc::gen::arbitrary<std::uint16_t>();
  Case longest = c;
  longest.checksum = 0;
  RC_PRE(to_string(longest).size() <= 160u);
  return c;
}

TEST(CaseLine, ParsingUndoesPrinting) {
  const bool ok = rc::check("parse_case(to_string(c)) == c", [] {
    const Case c = any_case();
    const std::string line = to_string(c);
    std::string error;
    const std::optional<Case> again = parse_case(line, error);
    RC_LOG() << line << "\n" << error;
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == c);
    RC_ASSERT(to_string(*again) == line);
  });
  EXPECT_TRUE(ok);
}

TEST(CaseLine, CanonicalLinesPrintAsTheyCame) {
  for (const char* line :
       {"lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37 chk=5b1c",
        "block_lstm_grad_v2 t5b3i17h4 peep=1 clip=0.5 order=ifco seq=4 dt=f16 data=strat:0x1f2e chk=7d0a",
        "cudnn_rnn_backprop t7b3i5h4 mode=gru dir=bi layers=2 in=linear drop=0.5 dt=f64 data=strat:0x3c51 chk=91ae",
        "block_lstm_grad_v2 t5b3i4h7 peep=0 order=ifco seq=3 dt=f32 data=golden:block_f32_tail",
        "lstm_block_cell_grad b0i0h1 peep=0 dt=f16 data=saturated:0xffffffffffffffff",
        "block_lstm_grad_v2 t0b0i0h1 peep=0 clip=1e-05 order=ifco seq=0 dt=f16 data=inf:0x0 chk=0000"}) {
    EXPECT_EQ(to_string(parsed(line)), line);
  }
}

TEST(CaseLine, WordsMayBeLeftOutAndShuffled) {
  EXPECT_EQ(to_string(parsed("  block_lstm_grad_v2 t5b3i4h7\tdata=strat:0x1 dt=f32\r\n")),
            "block_lstm_grad_v2 t5b3i4h7 peep=0 order=ifco seq=5 dt=f32 data=strat:0x1");
  EXPECT_EQ(to_string(parsed("cudnn_rnn_backprop t5b3i4h7 drop=0 data=strat:0x0A dt=f32")),
            "cudnn_rnn_backprop t5b3i4h7 mode=lstm dir=uni layers=1 in=linear dt=f32 data=strat:0xa");
  EXPECT_EQ(parsed("lstm_block_cell_grad b3i5h7 order=icfo dt=f32 data=strat:0x1").T, 1);
}

struct Broken {
  std::string line, error;
};

TEST(CaseLine, BrokenLinesNameTheWordAndWhatWasExpected) {
  const std::string cell = "lstm_block_cell_grad b3i5h7 ", rest = " dt=f32 data=strat:0x1";
  const std::string block = "block_lstm_grad_v2 t5b3i4h7 ", cudnn = "cudnn_rnn_backprop t5b3i4h7 ";
  const std::string dims = ": expected dims like b3i5h7, each from 0 to 2147483647";
  const Broken lines[] = {
      {"", "line: expected an op, dims and options; it is empty"},
      {"lstm b3i5h7", "lstm: expected one of lstm_block_cell_grad, block_lstm_grad_v2, cudnn_rnn_backprop"},
      {"cudnn_rnn t5b3i4h7", "cudnn_rnn: expected one of lstm_block_cell_grad, block_lstm_grad_v2, cudnn_rnn_backprop"},
      {"lstm_block_cell_grad", "dims: missing after lstm_block_cell_grad"},
      {"lstm_block_cell_grad b3h7", "b3h7" + dims},
      {"lstm_block_cell_grad b3i5h", "b3i5h" + dims},
      {"lstm_block_cell_grad b-3i5h7", "b-3i5h7" + dims},
      {"lstm_block_cell_grad t5b3i5h7", "t5b3i5h7" + dims},
      {"lstm_block_cell_grad b3i5h2147483648", "b3i5h2147483648" + dims},
      {"lstm_block_cell_grad b3i5h7x", "b3i5h7x" + dims},
      {"block_lstm_grad_v2 b3i5h7", "b3i5h7: expected dims like t5b3i5h7, each from 0 to 2147483647"},
      {"lstm_block_cell_grad b3i5h0", "b3i5h0: H must be at least 1"},
      {"cudnn_rnn_backprop t0b3i5h7", "t0b3i5h7: T must be at least 1 for cudnn_rnn_backprop"},
      {cell + "peep=2" + rest, "peep=2: expected one of 0, 1"},
      {cell + "peep" + rest, "peep: expected peep=<value>"},
      {cell + "peep=1 peep=1" + rest, "peep=1: given twice"},
      {cell + "seq=1" + rest,
       "seq=1: lstm_block_cell_grad has no such setting; its settings are peep, clip, order, dt, data, chk"},
      {cudnn + "peep=1" + rest,
       "peep=1: cudnn_rnn_backprop has no such setting; its settings are mode, dir, layers, in, drop, dt, data, chk"},
      {cell + "order=ifco" + rest, "order=ifco: the gates of lstm_block_cell_grad are in the order icfo"},
      {block + "order=icfo" + rest, "order=icfo: the gates of block_lstm_grad_v2 are in the order ifco"},
      {block + "clip=nan" + rest, "clip=nan: expected a finite number; 0 or less means no clipping"},
      {block + "clip=1x" + rest, "clip=1x: expected a finite number; 0 or less means no clipping"},
      {block + "seq=6" + rest, "seq=6: expected a whole number from 0 to T = 5"},
      {block + "seq=-1" + rest, "seq=-1: expected a whole number from 0 to T = 5"},
      {cudnn + "mode=rnn" + rest, "mode=rnn: expected one of relu, tanh, lstm, gru"},
      {cudnn + "dir=back" + rest, "dir=back: expected one of uni, bi"},
      {cudnn + "in=none" + rest, "in=none: expected one of linear, skip, auto"},
      {cudnn + "in=skip" + rest, "in=skip: needs I = H, not I = 4 and H = 7"},
      {cudnn + "layers=0" + rest, "layers=0: expected a whole number from 1 to 2147483647"},
      {cudnn + "drop=1.5" + rest, "drop=1.5: expected a number from 0 to 1"},
      {cudnn + "drop=nan" + rest, "drop=nan: expected a number from 0 to 1"},
      {cell + "dt=f64 data=strat:0x1", "dt=f64: lstm_block_cell_grad takes f16, f32"},
      {cudnn + "dt=i64 data=strat:0x1", "dt=i64: cudnn_rnn_backprop takes f16, f32, f64, bf16"},
      {cell + "data=strat:0x1", "dt: missing"},
      {cell + "dt=f32", "data: missing"},
      {cell + "dt=f32 data=random:0x1",
       "data=random:0x1: expected one of strat, saturated, linear, large, zeros, tiny, huge, scales, constant, nan, "
       "inf, golden, plain, training, malformed, tame, blank, alike, exact, lone, sparse, own"},
      {cell + "dt=f32 data=strat", "data=strat: expected strat:0x<seed of at most 16 hexadecimal digits>"},
      {cell + "dt=f32 data=strat:12", "data=strat:12: expected strat:0x<seed of at most 16 hexadecimal digits>"},
      {cell + "dt=f32 data=strat:0x-1", "data=strat:0x-1: expected strat:0x<seed of at most 16 hexadecimal digits>"},
      {cell + "dt=f32 data=strat:0x1ffffffffffffffff",
       "data=strat:0x1ffffffffffffffff: expected strat:0x<seed of at most 16 hexadecimal digits>"},
      {cell + "dt=f32 data=golden:../x",
       "data=golden:../x: expected golden:<name>, of at most 64 letters, digits, _ and -"},
      {cudnn + "mode=relu dt=f32 data=nan:0x1", "data=nan: not defined for mode=relu"},
      {cell + "dt=f32 data=strat:0x1 chk=12345", "chk=12345: expected 4 hexadecimal digits"},
      {cell + "dt=f32 data=strat:0x1 chk=xyzw", "chk=xyzw: expected 4 hexadecimal digits"},
      {cell + std::string(160, ' '), "line: it has 188 characters, at most 160 are allowed"},
      {"cudnn_rnn_backprop t2147483647b2147483647i2147483647h2147483647 mode=tanh layers=2147483647 drop=0.3333333333 "
       "dt=f16 data=constant:0xffffffffffffffff",
       "line: its canonical form with chk has 176 characters, at most 160 are allowed"},
  };
  for (const auto& [line, expected] : lines) {
    std::string error;
    EXPECT_FALSE(parse_case(line, error).has_value()) << line;
    EXPECT_EQ(error, expected) << line;
  }
}

TEST(Case, AttributesFollowFromTheSeed) {
  const Case c = parsed("cudnn_rnn_backprop t7b3i5h4 mode=gru dir=bi layers=2 drop=0.5 dt=f64 data=strat:0x3c51");
  const backgauge_attributes attributes = attributes_of(c);
  EXPECT_EQ(attributes.rnn_mode, BACKGAUGE_GRU);
  EXPECT_EQ(attributes.direction, BACKGAUGE_BIDIRECTIONAL);
  EXPECT_EQ(attributes.dropout, 0.5f);
  EXPECT_EQ(attributes.seed, static_cast<std::int32_t>(attributes.seed));
  EXPECT_EQ(attributes.seed2, static_cast<std::int32_t>(attributes.seed2));
  EXPECT_NE(attributes.seed, attributes.seed2);
  Case other = c;
  other.seed += 1;
  EXPECT_NE(attributes_of(other).seed, attributes.seed);
}

TEST(Case, ExtentsHoldWhatTheTableNeeds) {
  const Extents cudnn = extents_of(parsed("cudnn_rnn_backprop t7b3i4h4 dir=bi layers=2 in=auto dt=f32 data=strat:0x1"));
  EXPECT_EQ(cudnn.L, 2);
  EXPECT_EQ(cudnn.D, 2);
  EXPECT_TRUE(cudnn.lstm);
  // semantics.md 4.3: two pseudo-layers of R only, two of W [4 * 4, 8] and R, and four times two biases.
  EXPECT_EQ(cudnn.params_length, 2 * 16 * 4 + 2 * 16 * (8 + 4) + 4 * 2 * 16);
  const Extents block = extents_of(parsed("block_lstm_grad_v2 t5b3i4h7 peep=1 seq=3 dt=f32 data=strat:0x1"));
  EXPECT_EQ(block.S, 3);
  EXPECT_EQ(block.T, 5);
  EXPECT_TRUE(block.peephole);
}

}  // namespace
}  // namespace backgauge
