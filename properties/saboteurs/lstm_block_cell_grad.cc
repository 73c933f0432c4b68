// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad, reference/semantics.md section 1: gates in the order i, ci, f, o.
#include "properties/saboteurs/lstm_cell.h"
#include "properties/saboteurs/ops.h"
#include "properties/saboteurs/tensors.h"

namespace backgauge::saboteurs {

template <class Real>
void lstm_block_cell_grad(const Context& context) {
  const Work<Real> work(context.variant, context.call.dtype);
  const Tensors<Real> tensors(context.variant, context.call);
  const std::int64_t B = context.extents.B, H = context.extents.H;
  const bool use_peephole = context.call.attributes.use_peephole != 0;

  if (work.is(Fault::kH1)) {
    for (const char* name : {"wci_grad", "wcf_grad", "wco_grad"}) tensors.clear(name);
  }
  const auto wci = tensors.read("wci"), wcf = tensors.read("wcf"), wco = tensors.read("wco");
  const auto cs_prev = tensors.read("cs_prev"), cs = tensors.read("cs");
  const auto i = tensors.read("i"), f = tensors.read("f"), o = tensors.read("o");
  const auto ci = tensors.read("ci"), co = tensors.read("co");
  const auto cs_grad = tensors.read("cs_grad"), h_grad = tensors.read("h_grad");

  std::vector<Real> cs_prev_grad(B * H), dicfo(B * 4 * H);
  std::vector<Real> di_cs(B * H), df_cs(B * H), do_cs(B * H);
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t j = 0; j < H; ++j) {
      const auto at = [&](Site site, const std::vector<Real>& values) {
        return values[b * H + work.index(site, j, H)];
      };
      const std::int64_t unit = work.index(Site::k_peephole_index, j, H);
      const Peepholes<Real> peepholes{wci[unit], wcf[unit], wco[unit]};
      const LstmElement<Real> e{.cs_prev = at(Site::k_cs_prev_index, cs_prev),
                                .cs = at(Site::k_cs_index, cs),
                                .i = at(Site::k_i_index, i),
                                .f = at(Site::k_f_index, f),
                                .o = at(Site::k_o_index, o),
                                .ci = at(Site::k_ci_index, ci),
                                .co = at(Site::k_co_index, co),
                                .cs_grad = at(Site::k_cs_grad_index, cs_grad),
                                .h_grad = at(Site::k_h_grad_index, h_grad)};
      const LstmGradient<Real> d = lstm_cell_backward(work, e, use_peephole ? &peepholes : nullptr);
      const std::int64_t k = b * H + j;
      Real* gates = &dicfo[b * 4 * H + j];
      gates[0 * H] = d.i;
      gates[1 * H] = d.ci;
      gates[2 * H] = d.f;
      gates[3 * H] = d.o;
      cs_prev_grad[k] = d.cs_prev;
      if (use_peephole) {
        di_cs[k] = work.product(Site::k_wci_grad, {d.i, work.is(Fault::kA7) ? e.cs : e.cs_prev});
        df_cs[k] = work.product(Site::k_wcf_grad, {d.f, work.is(Fault::kA7) ? e.cs : e.cs_prev});
        do_cs[k] = work.product(Site::k_wco_grad, {d.o, work.is(Fault::kA6) ? e.cs_prev : e.cs});
      }
    }
  }
  const auto column_sums = [&](const std::vector<Real>& rows) {
    std::vector<Real> sums(H);
    for (std::int64_t j = 0; use_peephole && j < H; ++j) {
      sums[j] = work.total(Site::k_peephole_sum, B, [&](std::int64_t b) { return rows[b * H + j]; });
    }
    return sums;
  };
  const auto wci_grad = column_sums(di_cs), wcf_grad = column_sums(df_cs), wco_grad = column_sums(do_cs);
  tensors.write("cs_prev_grad", cs_prev_grad);
  tensors.write("dicfo", dicfo);
  tensors.write("wci_grad", work.is(Fault::kA8) ? wcf_grad : wci_grad);
  tensors.write("wcf_grad", work.is(Fault::kA8) ? wci_grad : work.is(Fault::kA8b) ? wco_grad : wcf_grad);
  tensors.write("wco_grad", work.is(Fault::kA8b) ? wcf_grad : wco_grad);
}

template void lstm_block_cell_grad<float>(const Context&);
template void lstm_block_cell_grad<double>(const Context&);

}  // namespace backgauge::saboteurs
