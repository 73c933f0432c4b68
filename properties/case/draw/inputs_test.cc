// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>

#include "properties/case/draw/draw_rules.h"
#include "properties/case/draw/elementary.h"
#include "properties/case/line/case_list.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

Filled filled(const std::string& line) {
  std::string error;
  const std::optional<Case> c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << line << "\n" << error;
  Filled result = fill(c.value_or(Case{}));
  EXPECT_EQ(result.error, "") << line;
  return result;
}

// One line per seed.
std::string with_seed(const std::string& line, int seed) {
  char text[32];
  std::snprintf(text, sizeof text, ":0x%x", static_cast<unsigned>(seed));
  return line + text;
}

std::vector<double> values(const Filled& f, std::string_view name) { return f.problem.find(name)->values; }

// The bits are part of the meaning of a case line. These checksums came from the first build and were the same with
// gcc 12 at -O2 and clang 14 at -O1; if one changes, every recorded case line has changed its meaning.
TEST(Inputs, HaveTheSameBitsEverywhere) {
  for (const char* line :
       {"lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37 chk=d1d4",
        "lstm_block_cell_grad b3i5h7 peep=1 clip=0.5 dt=f32 data=strat:0x9e39 chk=9186",
        "lstm_block_cell_grad b5i2h9 peep=1 dt=f16 data=saturated:0x12 chk=eedc",
        "block_lstm_grad_v2 t5b3i17h4 peep=1 clip=0.5 order=ifco seq=4 dt=f16 data=strat:0x1f2e chk=1701",
        "block_lstm_grad_v2 t13b11i19h23 peep=1 order=ifco seq=13 dt=f32 data=strat:0x2 chk=adaa",
        "block_lstm_grad_v2 t5b3i4h7 peep=0 order=ifco seq=3 dt=f32 data=golden:block_f32_tail chk=d263",
        "cudnn_rnn_backprop t7b3i5h4 mode=gru dir=bi layers=2 in=linear drop=0.5 dt=f64 data=strat:0x3c51 chk=0682",
        "cudnn_rnn_backprop t7b3i5h4 mode=relu dir=bi layers=2 in=linear dt=f16 data=scales:0x3c52 chk=23e2",
        "lstm_block_cell_grad b3i5h7 peep=1 dt=f16 data=plain:0x5 chk=03e8",
        "cudnn_rnn_backprop t3b2i5h4 mode=relu dir=bi layers=2 in=linear dt=f64 data=plain:0x7 chk=a94d"}) {
    filled(line);
  }
}

// More than a thousand further ones, as gcc 12 wrote them. ci/test also runs this test as clang compiles it, and on
// aarch64.
TEST(Inputs, OfTheMustpassListsHaveTheSameBitsEverywhere) {
  std::size_t compared = 0;
  for (const std::filesystem::directory_entry& version : std::filesystem::directory_iterator(BACKGAUGE_MUSTPASS)) {
    for (const std::filesystem::directory_entry& file : std::filesystem::directory_iterator(version)) {
      if (file.path().extension() != ".txt") continue;
      std::string error;
      const std::vector<ListedCase> listed = read_case_list(file, error);
      ASSERT_EQ(error, "");
      for (const ListedCase& one : listed) {
        if (one.c.data == DataProfile::kMalformed) continue;  // its checksum is that of its description
        ASSERT_TRUE(one.c.checksum.has_value()) << one.where;
        EXPECT_EQ(fill(one.c).error, "") << one.where;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 1000u);
}

TEST(Inputs, AnotherChecksumIsRefusedWithBoth) {
  std::string error;
  Case c = *parse_case("lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37 chk=0001", error);
  EXPECT_EQ(fill(c).error, "chk=0001: the inputs made here have the checksum d1d4");
}

TEST(Inputs, TooLargeACaseIsRefused) {
  std::string error;
  const Case c = *parse_case("block_lstm_grad_v2 t5b70000i70000h7 dt=f32 data=strat:0x1", error);
  EXPECT_EQ(fill(c).error, "x [5, 70000, 70000]: the inputs have more than 2^31 elements");
}

const char* const kShapes[] = {"lstm_block_cell_grad b3i5h7 peep=0 dt=f32",
                               "lstm_block_cell_grad b2i3h5 peep=1 dt=f16",
                               "block_lstm_grad_v2 t5b3i2h7 peep=1 seq=4 dt=f32",
                               "block_lstm_grad_v2 t5b3i2h7 peep=0 seq=3 dt=f16",
                               "block_lstm_grad_v2 t2b3i2h7 peep=0 seq=0 dt=f32",
                               "cudnn_rnn_backprop t3b2i5h4 mode=lstm dir=bi layers=2 dt=f64",
                               "cudnn_rnn_backprop t3b2i4h4 mode=gru in=skip layers=2 dt=f32",
                               "cudnn_rnn_backprop t3b2i4h5 mode=tanh dt=f16",
                               "cudnn_rnn_backprop t3b2i5h9 mode=relu dir=bi layers=3 dt=f16",
                               "cudnn_rnn_backprop t3b2i9h9 mode=relu in=skip dt=f32"};

// Every data profile with every op: elements that are read are finite if the facts say so, and in the dtype; others are
// poison.
TEST(Inputs, AreWhatTheFactsSay) {
  for (const std::string shape : kShapes) {
    for (const DataProfile profile : std::span(kDataProfiles).first(static_cast<int>(DataProfile::kGolden))) {
      const std::string word(data_profile_word(profile));
      const bool nonfinite = word == "nan" || word == "inf";
      if (nonfinite && shape.find("relu") != shape.npos) continue;
      for (int seed = 1; seed <= 8; ++seed) {
        const std::string line = with_seed(shape + " data=" + word, seed);
        SCOPED_TRACE(line);
        const Filled f = filled(line);
        std::int64_t wrong = 0, nonfinite_read = 0;
        const OpSpec& spec = *find_op(f.problem.op);
        for (const Tensor& tensor : f.problem.inputs) {
          const auto row = std::ranges::find(spec.inputs, std::string_view(tensor.name), &TensorSpec::name);
          ASSERT_EQ(tensor.shape, row->shape(f.problem.extents));
          ASSERT_EQ(static_cast<std::int64_t>(tensor.values.size()), element_count(tensor.shape));
          const std::int64_t read = elements_in_rows(tensor.shape, row->rows(f.problem.extents));
          for (std::int64_t e = 0; e < static_cast<std::int64_t>(tensor.values.size()); ++e) {
            const double value = tensor.values[e];
            const double rounded = round_to(row->is_int64 ? BACKGAUGE_INT64 : f.problem.dtype, value);
            wrong += !(rounded == value || (std::isnan(value) && std::isnan(rounded)));
            nonfinite_read += e < read && !std::isfinite(value);
          }
        }
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(nonfinite_read, f.facts.nonfinite ? 1 : 0);
        if (nonfinite) {
          EXPECT_EQ(f.facts.nonfinite, f.problem.op != BACKGAUGE_BLOCK_LSTM_GRAD_V2 || f.problem.extents.S > 0);
        }
      }
    }
  }
}

TEST(Inputs, PlainValuesArePowersOfTwo) {
  for (const std::string shape : kShapes) {
    for (int seed = 0; seed < 4; ++seed) {
      const Filled f = filled(with_seed(shape + " data=plain", seed));
      EXPECT_TRUE(f.facts.structured);
      const OpSpec& spec = *find_op(f.problem.op);
      for (const Tensor& tensor : f.problem.inputs) {
        const auto row = std::ranges::find(spec.inputs, std::string_view(tensor.name), &TensorSpec::name);
        const std::int64_t read = elements_in_rows(tensor.shape, row->rows(f.problem.extents));
        if (row->is_int64) continue;
        for (std::int64_t e = 0; e < read; ++e) {
          int exponent = 0;
          const double mantissa = std::frexp(std::fabs(tensor.values[e]), &exponent);
          EXPECT_TRUE(mantissa == 0.5 || mantissa == 0) << shape << " " << tensor.name << " " << tensor.values[e];
        }
      }
    }
  }
}

TEST(Inputs, LargeWeightsThatNobodyReadsTakeNoMemory) {
  Case c;
  c.I = 1, c.H = 8000;
  for (c.seed = 0; c.seed < 8; ++c.seed) {  // some would have states of a forward pass if it had weights
    const Filled filled = fill(c);
    ASSERT_EQ(filled.error, "");
    EXPECT_FALSE(filled.facts.consistent_saved);
  }
}

TEST(Inputs, UnreadElementsTakeEveryPoisonInTurn) {
  int nan = 0, infinite = 0, huge = 0, plausible = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const Filled f = filled(with_seed("block_lstm_grad_v2 t4b2i3h5 seq=2 dt=f16 data=strat", seed));
    for (const char* name : {"x", "i", "co", "h_grad"}) {
      const Tensor& tensor = *f.problem.find(name);
      const std::size_t unread = tensor.values.size() / 2;
      for (std::size_t k = unread; k < tensor.values.size(); ++k) {
        const double value = tensor.values[k];
        ++(std::isnan(value) ? nan : std::isinf(value) ? infinite : value == 60000 ? huge : plausible);
        const double last = tensor.values.back();
        const bool poisoned = !(std::fabs(last) < 100);
        EXPECT_TRUE(!poisoned || value == last || (std::isnan(value) && std::isnan(last)));
      }
    }
  }
  for (const int count : {nan, infinite, huge, plausible}) EXPECT_GT(count, (nan + infinite + huge + plausible) / 8);
}

// Enough unsaturated gates, and enough states where tanh has a slope, over cases with a gain up to 1.2.
TEST(Inputs, StratifiedCasesKeepGatesAndStatesAlive) {
  std::int64_t gates = 0, alive = 0;
  std::vector<double> slopes;
  for (int seed = 0; seed < 400; ++seed) {
    for (const char* shape :
         {"lstm_block_cell_grad b5i11h7 peep=1 dt=f32", "block_lstm_grad_v2 t5b3i7h11 peep=1 dt=f32"}) {
      const std::string line = with_seed(std::string(shape) + " data=strat", seed);
      std::string error;
      const Case c = *parse_case(line, error);
      const DrawRules rules = draw_rules(c);
      if (rules.gain > 1.2 || !rules.consistent) continue;
      const Filled f = fill(c);
      for (const char* name : {"i", "f", "o"}) {
        for (const double gate : values(f, name)) {
          ++gates;
          alive += gate >= 0.05 && gate <= 0.95;
        }
      }
      for (const double co : values(f, "co")) slopes.push_back(1 - co * co);
    }
  }
  ASSERT_GT(gates, 10000);
  EXPECT_GT(static_cast<double>(alive) / static_cast<double>(gates), 0.8);
  std::ranges::nth_element(slopes, slopes.begin() + slopes.size() / 2);
  EXPECT_GT(slopes[slopes.size() / 2], 0.2);
}

// The purpose of the profile: sums over 4H of a wide case have some 32 terms, and sums over T B have 8.
TEST(Inputs, SparseCasesHaveShortSums) {
  const Filled f = filled("block_lstm_grad_v2 t100b64i3h150 peep=1 dt=f16 data=sparse:0x7");
  const auto count = [](const std::vector<double>& of) {
    return static_cast<double>(std::ranges::count_if(of, [](double value) { return value != 0; }));
  };
  EXPECT_NEAR(count(values(f, "w")) / (3 + 150), 32, 3);  // of each row of w, 4H = 600 wide
  for (const char* name : {"cs_grad", "h_grad"}) {
    const std::vector<double> upstream = values(f, name);
    EXPECT_EQ(count(upstream), 4 * 2 * 150) << name;
    EXPECT_EQ(count({upstream.begin() + 4 * 64 * 150, upstream.end()}), 0) << name;
  }
  const Filled narrow = filled("block_lstm_grad_v2 t4b2i3h5 peep=1 dt=f32 data=sparse:0x7");
  for (const char* name : {"w", "cs_grad", "h_grad"}) {
    EXPECT_EQ(count(values(narrow, name)), values(narrow, name).size()) << name;
  }
  const Filled stacked = filled("cudnn_rnn_backprop t40b6i9h60 mode=lstm dir=uni layers=2 dt=f16 data=sparse:0x7");
  EXPECT_EQ(count(values(stacked, "output_h_backprop")), 0);  // it enters after the last of 40 steps
  const std::vector<double> upstream = values(stacked, "output_backprop"), params = values(stacked, "params");
  EXPECT_EQ(count({upstream.begin(), upstream.begin() + 6 * 60}), 2 * 60);  // every third row of 6
  const RnnParams layout = rnn_params(stacked.problem.attributes, 9, 60, 2);
  const auto R = params.begin() + layout.R(1, 0, 2);
  EXPECT_NEAR(count({R, R + 60 * 60}), 60 * 60 * 32.0 / 240, 80);  // four standard deviations
}

// The shares that README.md states for gains and saved tensors, over many seeds, within five standard deviations.
TEST(Inputs, GainsAndSavedTensorsHaveTheirShares) {
  constexpr int kSeeds = 4000;
  int usual_gain = 0, consistent = 0, forget_bias = 0;
  Case c;
  for (c.seed = 0; c.seed < kSeeds; ++c.seed) {
    const DrawRules rules = draw_rules(c);
    usual_gain += rules.gain == 1.2;
    consistent += rules.consistent;
    forget_bias += rules.forget_bias;
  }
  const double width = 5 * std::sqrt(kSeeds * 0.25);
  EXPECT_NEAR(usual_gain, kSeeds * 0.5, width);
  EXPECT_NEAR(consistent, kSeeds * 0.6, width);
  EXPECT_NEAR(forget_bias, kSeeds * 0.5, width);
}

TEST(Inputs, ConsistentSavedTensorsObeyTheForward) {
  int consistent = 0;
  for (const char* dtype : {"f16", "f32"}) {
    for (int seed = 0; seed < 40; ++seed) {
      const Filled f = filled(
          with_seed(std::string("block_lstm_grad_v2 t3b2i3h5 peep=1 clip=0.75 dt=") + dtype + " data=strat", seed));
      if (!f.facts.consistent_saved) continue;
      ++consistent;
      const double u = float_format(f.problem.dtype).unit_roundoff;
      const std::vector<double>&i = values(f, "i"), &cs = values(f, "cs"), &forget = values(f, "f"),
            &ci = values(f, "ci"), &co = values(f, "co"), &o = values(f, "o"), &h = values(f, "h"),
            &first = values(f, "cs_prev");
      for (std::size_t k = 0; k < cs.size(); ++k) {
        const double before = k < first.size() ? first[k] : cs[k - first.size()];
        const double unclipped = i[k] * ci[k] + forget[k] * before;
        // Each stored factor is off by u, relatively; f16 has gates below its normal numbers, off by half the least
        // one.
        const double slack = 4 * u * (std::fabs(i[k] * ci[k]) + std::fabs(forget[k] * before)) +
                             4 * float_format(f.problem.dtype).least_positive;
        EXPECT_NEAR(cs[k], std::clamp(unclipped, -0.75, 0.75), slack);
        EXPECT_NEAR(co[k], std::tanh(cs[k]), 2 * u * std::fabs(co[k]) + float_format(f.problem.dtype).least_positive);
        if (k >= cs.size() - first.size()) continue;  // h of the last step is never read
        EXPECT_NEAR(h[k], o[k] * co[k], 4 * u * std::fabs(h[k]) + 4 * float_format(f.problem.dtype).least_positive);
      }
    }
  }
  EXPECT_GT(consistent, 20);
}

// R2.
TEST(Inputs, NothingIsZeroUnlessTheClassSaysSo) {
  for (const std::string shape : kShapes) {
    if (shape.find("relu") != shape.npos || shape.find("f16") != shape.npos)
      continue;  // dead units; tiny weights round to 0
    const Filled f = filled(shape + " data=strat:0x77");
    for (const Tensor& tensor : f.problem.inputs) {
      if (tensor.name == "seq_len_max") continue;
      EXPECT_EQ(std::ranges::count(tensor.values, 0.0), 0) << shape << " " << tensor.name;
    }
  }
}

TEST(Inputs, ZerosAreOneInTen) {
  const std::vector<double> w = values(filled("block_lstm_grad_v2 t2b2i31h31 dt=f32 data=zeros:0x5"), "w");
  const double n = static_cast<double>(w.size());
  EXPECT_NEAR(static_cast<double>(std::ranges::count(w, 0.0)), n / 10, 5 * std::sqrt(n * 0.09));
}

TEST(Inputs, LargeStatesSaturateTheirTanh) {
  const Filled f = filled("block_lstm_grad_v2 t3b5i3h7 peep=1 dt=f32 data=large:0x5");
  for (const double cs : values(f, "cs")) EXPECT_TRUE(std::fabs(cs) >= 10 && std::fabs(cs) <= 1e4);
  for (std::size_t k = 0; k < values(f, "co").size(); ++k) {
    EXPECT_EQ(values(f, "co")[k], std::copysign(1.0, values(f, "cs")[k]));
  }
}

// Rows of R cannot make states grow, some units are exactly 0, and with signed units no pre-activation comes near it.
TEST(Inputs, ReluIsContractiveAndHasDeadUnits) {
  int dead = 0, units = 0;
  for (int seed = 0; seed < 50; ++seed) {
    const Filled f = filled(with_seed("cudnn_rnn_backprop t3b2i5h8 mode=relu dir=bi layers=2 dt=f64 data=strat", seed));
    const RnnParams layout = rnn_params(f.problem.attributes, 5, 8, 2);
    const std::vector<double>& params = values(f, "params");
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      for (std::int64_t direction = 0; direction < 2; ++direction) {
        for (std::int64_t unit = 0; unit < 8; ++unit) {
          double sum = 0, all = 0;
          for (std::int64_t k = 0; k < 8; ++k) sum += std::fabs(params[layout.R(layer, direction, 0) + unit * 8 + k]);
          for (std::int64_t k = 0; k < layout.matrix_input(layer); ++k) {
            all += std::fabs(params[layout.W(layer, direction, 0) + unit * layout.matrix_input(layer) + k]);
          }
          all += sum + std::fabs(params[layout.bW(layer, direction, 0) + unit]) +
                 std::fabs(params[layout.bR(layer, direction, 0) + unit]);
          EXPECT_LE(sum, 0.9 + 1e-12);
          EXPECT_NE(unit == 0 && all == 0, true);
          dead += all == 0;
          ++units;
        }
      }
    }
  }
  EXPECT_GT(dead, units / 20);
  EXPECT_LT(dead, units / 5);
}

TEST(Inputs, TinyHugeAndScaledUpstreamsSpanTheirRange) {
  double least = 1, largest = 0;
  for (int seed = 0; seed < 30; ++seed) {
    for (const double g : values(filled(with_seed("lstm_block_cell_grad b3i2h9 dt=f32 data=tiny", seed)), "h_grad")) {
      if (g != 0) least = std::min(least, std::fabs(g));
    }
    for (const double g : values(filled(with_seed("lstm_block_cell_grad b3i2h9 dt=f32 data=huge", seed)), "h_grad")) {
      largest = std::max(largest, std::fabs(g));
    }
  }
  EXPECT_LT(least, float_format(BACKGAUGE_FLOAT32).least_normal);
  EXPECT_GT(largest, 1e29);
  const std::vector<double> rows = values(filled("lstm_block_cell_grad b64i2h9 dt=f32 data=scales:0x3"), "h_grad");
  const auto [low, high] = std::ranges::minmax(rows, {}, [](double g) { return std::fabs(g); });
  EXPECT_GT(std::fabs(high) / std::fabs(low), 0x1p30);
}

// 2^31 elements and more, of which three steps are read, or nothing.
TEST(Fill, MakesOfLargeTensorsOnlyWhatIsRead) {
  for (const char* line : {"block_lstm_grad_v2 t357913942b2i0h3 peep=1 seq=3 dt=f32 data=strat:0x5",
                           "block_lstm_grad_v2 t357913942b2i0h3 seq=3 dt=f16 data=strat:0x6",
                           "lstm_block_cell_grad b1i1h23170 peep=1 dt=f32 data=strat:0x7"}) {
    std::string error;
    const Filled filled = fill(parse_case(line, error).value());
    ASSERT_EQ(filled.error, "") << line;
    bool large = false;
    for (const Tensor& tensor : filled.problem.inputs) {
      if (tensor.name == "seq_len_max") continue;
      const std::int64_t elements = element_count(tensor.shape).value();
      large |= elements > std::int64_t{1} << 31;
      EXPECT_LT(tensor.values.size(), 1u << 20) << tensor.name;
      EXPECT_TRUE(elements >= 1 << 20 || static_cast<std::int64_t>(tensor.values.size()) == elements) << tensor.name;
    }
    EXPECT_TRUE(large) << line;
  }
}

}  // namespace
}  // namespace backgauge
