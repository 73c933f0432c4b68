// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/forward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "properties/case/draw/panel_product.h"
#include "properties/case/line/random.h"
#include "properties/case/stored/golden.h"

namespace backgauge {
namespace {

// TensorFlow's float kernels sum in float: some 60 terms of order 1, each partial sum off by 2^-24. check.py of the
// goldens uses the same limit.
constexpr double kFloatKernels = 2e-6;

ForwardInputs inputs_of(const Problem& problem, double cell_clip) {
  const auto values = [&](const char* name) { return problem.find(name)->values.data(); };
  const Extents& e = problem.extents;
  return {e.S,
          e.B,
          e.I,
          e.H,
          GateOrder::kIfco,
          0,
          cell_clip,
          e.peephole,
          values("x"),
          values("cs_prev"),
          values("h_prev"),
          values("w"),
          values("wci"),
          values("wcf"),
          values("wco"),
          values("b")};
}

struct Made {
  std::vector<double> i, cs, f, o, ci, co, h;
};

Made made_by_forward(const ForwardInputs& in, const Crew& crew = Crew()) {
  Made made;
  for (std::vector<double>* tensor : {&made.i, &made.cs, &made.f, &made.o, &made.ci, &made.co, &made.h}) {
    tensor->resize(static_cast<std::size_t>(in.steps * in.B * in.H));
  }
  run_forward(in, {made.i, made.cs, made.f, made.o, made.ci, made.co, made.h}, crew);
  return made;
}

std::vector<GoldenData> float_sequences(std::vector<Case>& cases) {
  std::vector<GoldenData> found;
  std::string error;
  const std::filesystem::path directory = golden_directory(error);
  for (const Golden& golden : list_goldens(directory, error)) {
    const Case& c = golden.case_line;
    if (c.op != BACKGAUGE_BLOCK_LSTM_GRAD_V2 || c.dtype != BACKGAUGE_FLOAT32 || !golden.from_forward) continue;
    EXPECT_TRUE(read_golden(directory, golden, found.emplace_back(), error)) << error;
    cases.push_back(c);
  }
  EXPECT_GE(found.size(), 6u);
  return found;
}

TEST(Forward, MakesWhatTensorFlowSaved) {
  std::vector<Case> cases;
  const std::vector<GoldenData> goldens = float_sequences(cases);
  for (std::size_t k = 0; k < goldens.size(); ++k) {
    SCOPED_TRACE(cases[k].golden);
    const Problem& problem = goldens[k].problem;
    const Made saved = made_by_forward(inputs_of(problem, cases[k].cell_clip));
    for (const auto& [made, name] :
         {std::pair{&saved.i, "i"}, std::pair{&saved.cs, "cs"}, std::pair{&saved.f, "f"}, std::pair{&saved.o, "o"},
          std::pair{&saved.ci, "ci"}, std::pair{&saved.co, "co"}, std::pair{&saved.h, "h"}}) {
      const std::vector<double>& stored = problem.find(name)->values;
      ASSERT_FALSE(made->empty());
      double largest = 0, error = 0;
      for (std::size_t e = 0; e < made->size(); ++e) {
        largest = std::max(largest, std::fabs((*made)[e]));
        error = std::max(error, std::fabs((*made)[e] - stored[e]));
      }
      EXPECT_LE(error, kFloatKernels * largest) << name;
    }
  }
}

// The cell with its order of gates and its forget_bias equals the sequence op with columns exchanged and the bias in b.
TEST(Forward, OrdersOfGatesDifferByColumnsOnly) {
  std::vector<Case> cases;
  const GoldenData golden = float_sequences(cases).back();
  ForwardInputs in = inputs_of(golden.problem, 0);
  const Made ifco = made_by_forward(in);

  const std::int64_t H = in.H, rows = in.I + H;
  std::vector<double> w(in.w, in.w + rows * 4 * H), b(in.b, in.b + 4 * H);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::swap_ranges(w.begin() + row * 4 * H + H, w.begin() + row * 4 * H + 2 * H, w.begin() + row * 4 * H + 2 * H);
  }
  std::swap_ranges(b.begin() + H, b.begin() + 2 * H, b.begin() + 2 * H);
  for (std::int64_t j = 0; j < H; ++j) b[2 * H + j] -= 1;
  in.order = GateOrder::kIcfo;
  in.forget_bias = 1;
  in.w = w.data();
  in.b = b.data();
  const Made icfo = made_by_forward(in);
  for (std::size_t k = 0; k < ifco.h.size(); ++k) {
    EXPECT_NEAR(icfo.f[k], ifco.f[k], 1e-13);  // the order of one addition differs
    EXPECT_NEAR(icfo.ci[k], ifco.ci[k], 1e-13);
    EXPECT_NEAR(icfo.h[k], ifco.h[k], 1e-13);
  }
}

// A step may take seconds, so that stopping is asked for within each.
TEST(Forward, CanBeStoppedWithinEachStep) {
  constexpr std::int64_t kSteps = 3, kBatch = 2, kWidth = 5, kUnits = 42, kPanels = 11;
  const std::vector<double> zeros(static_cast<std::size_t>((kWidth + kUnits) * 4 * kUnits));
  const double* z = zeros.data();
  const ForwardInputs in{kSteps, kBatch, kWidth, kUnits, GateOrder::kIfco, 0, 0, false, z, z, z, z, z, z, z, z};
  for (const int threads : {1, 3}) {
    std::atomic<int> asked{0};
    made_by_forward(in, Crew(threads, [&] { return ++asked < 0; }));
    const int all = asked;
    EXPECT_GE(all, kSteps * kPanels);
    for (int at = 1; at <= all; ++at) {
      asked = 0;
      EXPECT_THROW(made_by_forward(in, Crew(threads, [&] { return ++asked >= at; })), Stopped) << at << " of " << all;
      EXPECT_LE(asked, at + threads) << "goes on";
    }
  }
}

// Sums in the order of the rows of the panel, without a fused multiply-add: all kinds of tiles, and what is left over.
TEST(Forward, ProductsHaveTheBitsOfAPlainLoop) {
  const RandomStream stream(1, "values");
  const auto drawn = [&](std::int64_t count, std::int64_t first) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = stream.normal(first + static_cast<std::int64_t>(k));
    return out;
  };
  for (std::int64_t rows = 0; rows <= 21; ++rows) {
    for (const std::int64_t depth : {0, 1, 7, 33}) {
      const std::int64_t stride = depth + 3;
      const std::vector<double> in = drawn(rows * stride, 0), panel = drawn(depth * kPanelColumns, 1000);
      std::vector<double> sums = drawn(rows * kPanelColumns, 2000), want = sums;
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t k = 0; k < depth; ++k) {
          for (std::int64_t column = 0; column < kPanelColumns; ++column) {
            want[static_cast<std::size_t>(row * kPanelColumns + column)] +=
                in[static_cast<std::size_t>(row * stride + k)] *
                panel[static_cast<std::size_t>(k * kPanelColumns + column)];
          }
        }
      }
      add_panel_product({in.data(), stride, panel.data(), rows, depth, sums.data()});
      ASSERT_EQ(sums, want) << rows << " rows, depth " << depth;
    }
  }
}

}  // namespace
}  // namespace backgauge
