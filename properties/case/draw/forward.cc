// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/forward.h"

#include <algorithm>

#include "properties/case/draw/elementary.h"

namespace backgauge {
namespace {

// sums[count] += the products of kTerms values and kTerms rows of weights, each sum in the order of the rows.
template <int kTerms>
void add_terms(const double* values, const double* weights, std::int64_t stride, std::int64_t count, double* sums) {
  for (std::int64_t j = 0; j < count; ++j) {
    double sum = sums[j];
    for (int k = 0; k < kTerms; ++k) sum += values[k] * weights[k * stride + j];
    sums[j] = sum;
  }
}

// gates[rows, columns] += in[rows, width] w[width, columns], every element as a sum in the order of k. Blocking only
// changes the order of elements: it keeps w in the cache, and a sum in a register for several terms.
void add_product(const double* in, std::int64_t rows, std::int64_t width, const double* w, std::int64_t columns,
                 double* gates) {
  constexpr std::int64_t kRows = 16, kColumns = 256;  // 32 KiB of sums
  constexpr int kTerms = 8;
  for (std::int64_t row = 0; row < rows; row += kRows) {
    const std::int64_t end = std::min(rows, row + kRows);
    for (std::int64_t column = 0; column < columns; column += kColumns) {
      const std::int64_t count = std::min(kColumns, columns - column);
      for (std::int64_t k = 0; k < width;) {
        const bool several = k + kTerms <= width;
        const auto add = several ? add_terms<kTerms> : add_terms<1>;
        const double* weights = w + k * columns + column;
        for (std::int64_t r = row; r < end; ++r) {
          add(in + r * width + k, weights, columns, count, gates + r * columns + column);
        }
        k += several ? kTerms : 1;
      }
    }
  }
}

}  // namespace

Saved run_forward(const ForwardInputs& in) {
  const std::int64_t H = in.H, states = in.B * H;
  Saved saved;
  for (std::vector<double>* tensor : {&saved.i, &saved.cs, &saved.f, &saved.o, &saved.ci, &saved.co, &saved.h}) {
    tensor->resize(in.steps * states);
  }
  const bool icfo = in.order == GateOrder::kIcfo;
  const std::int64_t column_ci = icfo ? H : 2 * H, column_f = icfo ? 2 * H : H, column_o = 3 * H;
  std::vector<double> all_gates(in.B * 4 * H);
  for (std::int64_t t = 0; t < in.steps; ++t) {
    const double* cs_before = t == 0 ? in.cs_prev : saved.cs.data() + (t - 1) * states;
    const double* h_before = t == 0 ? in.h_prev : saved.h.data() + (t - 1) * states;
    for (std::int64_t row = 0; row < in.B; ++row) std::copy(in.b, in.b + 4 * H, all_gates.begin() + row * 4 * H);
    add_product(in.x + t * in.B * in.I, in.B, in.I, in.w, 4 * H, all_gates.data());
    add_product(h_before, in.B, H, in.w + in.I * 4 * H, 4 * H, all_gates.data());
    for (std::int64_t row = 0; row < in.B; ++row) {
      const double* gates = all_gates.data() + row * 4 * H;
      for (std::int64_t j = 0; j < H; ++j) {
        const double cs_old = cs_before[row * H + j];
        const double peep_i = in.use_peephole ? cs_old * in.wci[j] : 0;
        const double peep_f = in.use_peephole ? cs_old * in.wcf[j] : 0;
        const double i = portable::sigmoid(gates[j] + peep_i);
        const double ci = portable::tanh(gates[column_ci + j]);
        const double f = portable::sigmoid(gates[column_f + j] + in.forget_bias + peep_f);
        double cs = i * ci + f * cs_old;
        if (in.cell_clip > 0) cs = std::clamp(cs, -in.cell_clip, in.cell_clip);
        const double peep_o = in.use_peephole ? cs * in.wco[j] : 0;
        const double o = portable::sigmoid(gates[column_o + j] + peep_o);
        const double co = portable::tanh(cs);
        const std::int64_t at = t * states + row * H + j;
        saved.i[at] = i;
        saved.cs[at] = cs;
        saved.f[at] = f;
        saved.o[at] = o;
        saved.ci[at] = ci;
        saved.co[at] = co;
        saved.h[at] = o * co;
      }
    }
  }
  return saved;
}

}  // namespace backgauge
