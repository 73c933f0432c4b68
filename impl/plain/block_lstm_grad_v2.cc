// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2, reference/semantics.md section 2: gates in the order i, f, ci, o. Steps from seq_len_max on are not
// read, and neither is h of the last step before them.
#include "impl/plain/lstm_cell.h"
#include "impl/plain/ops.h"
#include "impl/plain/tensors.h"

namespace backgauge::plain {

template <class Real>
void block_lstm_grad_v2(const backgauge_call& call) {
  const backgauge_tensor& x_tensor = input(call, "x");
  const std::int64_t T = x_tensor.shape[0], B = x_tensor.shape[1], I = x_tensor.shape[2];
  const std::int64_t H = input(call, "cs_prev").shape[1];
  const std::int64_t S = *static_cast<const std::int64_t*>(input(call, "seq_len_max").data);
  const bool use_peephole = call.attributes.use_peephole != 0;
  const auto x = read<Real>(call, "x", S * B * I), w = read<Real>(call, "w");
  const auto cs_prev = read<Real>(call, "cs_prev"), h_prev = read<Real>(call, "h_prev");
  const auto wci = read<Real>(call, "wci"), wcf = read<Real>(call, "wcf"), wco = read<Real>(call, "wco");
  const auto read_steps = [&](const char* name) { return read<Real>(call, name, S * B * H); };
  const auto i = read_steps("i"), f = read_steps("f"), o = read_steps("o");
  const auto ci = read_steps("ci"), co = read_steps("co");
  const auto cs = read_steps("cs"), h = read_steps("h");
  const auto cs_grad = read_steps("cs_grad"), h_grad = read_steps("h_grad");

  std::vector<Real> x_grad(T * B * I), cs_prev_grad(B * H), h_prev_grad(B * H), w_grad((I + H) * 4 * H);
  std::vector<Real> wci_grad(H), wcf_grad(H), wco_grad(H), b_grad(4 * H), gates(4 * H);
  for (std::int64_t t = S - 1; t >= 0; --t) {
    const Real* cs_before = t == 0 ? cs_prev.data() : cs.data() + (t - 1) * B * H;
    const Real* h_before = t == 0 ? h_prev.data() : h.data() + (t - 1) * B * H;
    for (std::int64_t b = 0; b < B; ++b) {
      for (std::int64_t j = 0; j < H; ++j) {
        const std::int64_t k = b * H + j, tk = t * B * H + k;
        const Peepholes<Real> peepholes{wci[j], wcf[j], wco[j]};
        const LstmGradient<Real> d = lstm_cell_backward({cs_before[k], i[tk], f[tk], o[tk], ci[tk], co[tk],
                                                         cs_prev_grad[k] + cs_grad[tk], h_prev_grad[k] + h_grad[tk]},
                                                        use_peephole ? &peepholes : nullptr);
        gates[0 * H + j] = d.i;
        gates[1 * H + j] = d.f;
        gates[2 * H + j] = d.ci;
        gates[3 * H + j] = d.o;
        cs_prev_grad[k] = d.cs_prev;
        if (use_peephole) {
          wci_grad[j] += d.i * cs_before[k];
          wcf_grad[j] += d.f * cs_before[k];
          wco_grad[j] += d.o * cs[tk];
        }
      }
      const Real* x_row = x.data() + (t * B + b) * I;
      const Real* h_row = h_before + b * H;
      for (std::int64_t row = 0; row < I + H; ++row) {  // rows of w: inputs, then states
        const Real value = row < I ? x_row[row] : h_row[row - I];
        Real sum = 0;
        for (std::int64_t g = 0; g < 4 * H; ++g) {
          sum += gates[g] * w[row * 4 * H + g];
          w_grad[row * 4 * H + g] += value * gates[g];
        }
        (row < I ? x_grad[(t * B + b) * I + row] : h_prev_grad[b * H + row - I]) = sum;
      }
      for (std::int64_t g = 0; g < 4 * H; ++g) b_grad[g] += gates[g];
    }
  }
  write(call, "x_grad", x_grad);
  write(call, "cs_prev_grad", cs_prev_grad);
  write(call, "h_prev_grad", h_prev_grad);
  write(call, "w_grad", w_grad);
  write(call, "wci_grad", wci_grad);
  write(call, "wcf_grad", wcf_grad);
  write(call, "wco_grad", wco_grad);
  write(call, "b_grad", b_grad);
}

template void block_lstm_grad_v2<float>(const backgauge_call& call);

}  // namespace backgauge::plain
