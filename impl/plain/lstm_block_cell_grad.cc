// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad, reference/semantics.md section 1: gates in the order i, ci, f, o.
#include "impl/plain/lstm_cell.h"
#include "impl/plain/ops.h"
#include "impl/plain/tensors.h"

namespace backgauge::plain {

template <class Real>
void lstm_block_cell_grad(const backgauge_call& call) {
  const std::int64_t B = input(call, "cs_prev").shape[0], H = input(call, "cs_prev").shape[1];
  const bool use_peephole = call.attributes.use_peephole != 0;
  const auto cs_prev = read<Real>(call, "cs_prev"), cs = read<Real>(call, "cs");
  const auto i = read<Real>(call, "i"), f = read<Real>(call, "f"), o = read<Real>(call, "o");
  const auto ci = read<Real>(call, "ci"), co = read<Real>(call, "co");
  const auto cs_grad = read<Real>(call, "cs_grad"), h_grad = read<Real>(call, "h_grad");
  const auto wci = read<Real>(call, "wci"), wcf = read<Real>(call, "wcf"), wco = read<Real>(call, "wco");

  std::vector<Real> cs_prev_grad(B * H), dicfo(B * 4 * H), wci_grad(H), wcf_grad(H), wco_grad(H);
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t j = 0; j < H; ++j) {
      const std::int64_t k = b * H + j;
      const Peepholes<Real> peepholes{wci[j], wcf[j], wco[j]};
      const LstmGradient<Real> d = lstm_cell_backward(
          {cs_prev[k], i[k], f[k], o[k], ci[k], co[k], cs_grad[k], h_grad[k]}, use_peephole ? &peepholes : nullptr);
      Real* gates = &dicfo[b * 4 * H + j];
      gates[0 * H] = d.i;
      gates[1 * H] = d.ci;
      gates[2 * H] = d.f;
      gates[3 * H] = d.o;
      cs_prev_grad[k] = d.cs_prev;
      if (use_peephole) {
        wci_grad[j] += d.i * cs_prev[k];
        wcf_grad[j] += d.f * cs_prev[k];
        wco_grad[j] += d.o * cs[k];
      }
    }
  }
  write(call, "cs_prev_grad", cs_prev_grad);
  write(call, "dicfo", dicfo);
  write(call, "wci_grad", wci_grad);
  write(call, "wcf_grad", wcf_grad);
  write(call, "wco_grad", wco_grad);
}

template void lstm_block_cell_grad<float>(const backgauge_call& call);

}  // namespace backgauge::plain
