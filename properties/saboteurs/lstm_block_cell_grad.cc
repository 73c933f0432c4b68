// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad, reference/semantics.md section 1: gates in the order i, ci, f, o.
#include "properties/saboteurs/gates.h"
#include "properties/saboteurs/lstm_tensors.h"
#include "properties/saboteurs/ops.h"
#include "properties/saboteurs/rows.h"

namespace backgauge::saboteurs {
namespace {

using Index = std::int64_t;

// cs_grad, which may share its memory with cs_prev_grad.
template <class Real>
std::vector<Real> read_cs_grad(const Work<Real>& work, const Tensors<Real>& tensors) {
  std::vector<Real> values = tensors.read("cs_grad");
  if (work.is(Fault::kH2) && !values.empty()) {
    tensors.clear("cs_prev_grad");
    values.back() = tensors.read("cs_grad").back();
  }
  return values;
}

}  // namespace

template <class Real>
void lstm_block_cell_grad(const Context& context) {
  const Work<Real> work(context.variant, context.call.dtype);
  const Tensors<Real> tensors(context.variant, context.call);
  const Index B = context.extents.B, H = context.extents.H;
  const bool use_peephole = has_peepholes(context);
  const Index examples = examples_computed(context, B);
  if (work.is(Fault::kH16) && B < context.call.num_threads) return;
  if (work.is(Fault::kH1)) {
    for (const char* name : {"wci_grad", "wcf_grad", "wco_grad"}) tensors.clear(name);
  }
  const LstmTensors<Real> lstm(work, tensors, H);
  const Gates<Real> gates(work, H);
  const auto cs_prev = tensors.read("cs_prev"), cs_grad = read_cs_grad(work, tensors);
  const auto h_grad = read_h_grad<Real>(context, tensors);

  std::vector<Real> cs_prev_grad(B * H), dgates(B * gates.stride());
  for (Index b = 0; b < examples; ++b) {
    for (Index j = 0; j < H; ++j) {
      if (lstm.left_out(j)) continue;
      LstmElement<Real> e = lstm.element(b, cs_prev, b, j);
      e.cs_grad = lstm.at(Site::k_cs_grad_index, cs_grad, b, j);
      e.h_grad = lstm.at(Site::k_h_grad_index, h_grad, b, j);
      const Peepholes<Real> peepholes = lstm.peepholes(j);
      const LstmGradient<Real> d = lstm_cell_backward(work, e, use_peephole ? &peepholes : nullptr);
      Real* row = &dgates[b * gates.stride()];
      const Real of_blocks[] = {d.i, d.ci, d.f, d.o};
      for (Index g = 0; g < 4; ++g) row[gates.at(work.index(Site::k_gate_block, g, 4), j)] = work.saved(of_blocks[g]);
      cs_prev_grad[b * H + j] = d.cs_prev;
    }
  }
  std::vector<Real> dicfo(B * 4 * H);
  for (Index k = 0; k < B * 4 * H; ++k) {
    dicfo[k] = dgates[gates.index(k / (4 * H) * gates.stride() + gates.place(k % (4 * H)))];
  }
  if (work.in_place()) {
    tensors.write("dicfo", dicfo);
    dicfo = tensors.standing("dicfo");
  }

  const RowSums<Real> sums(context, work, Sum::kPeepholes, 1, B);
  const auto peephole_gradient = [&](Site site, Index g, const std::vector<Real>& state) {
    std::vector<Real> out = work.is(Fault::kI16) ? kept<Real>(context, H) : std::vector<Real>();
    out.resize(H);
    for (Index j = 0; use_peephole && j < H; ++j) {
      out[j] += sums.total(Site::k_peephole_sum, [&](Index b) {
        const Site state_index = g == 3 ? Site::k_cs_index : Site::k_cs_prev_index;
        return work.product(site, {dicfo[b * 4 * H + g * H + j], lstm.at(state_index, state, sums.state_row(b), j)});
      });
    }
    return out;
  };
  const std::vector<Real>&before = work.is(Fault::kA7) ? lstm.cs() : cs_prev,
        &after = work.is(Fault::kA6) ? cs_prev : lstm.cs();
  const Peepholes<std::vector<Real>> d{peephole_gradient(Site::k_wci_grad, 0, before),
                                       peephole_gradient(Site::k_wcf_grad, 2, before),
                                       peephole_gradient(Site::k_wco_grad, 3, after)};
  if (work.is(Fault::kI16)) keep(context, d.wci);
  if (work.is(Fault::kH22)) tensors.change_input("cs_grad");
  tensors.write("cs_prev_grad", cs_prev_grad);
  tensors.write("dicfo", dicfo);
  write_peephole_gradients(tensors, work.fault(), d);
}

template void lstm_block_cell_grad<float>(const Context&);
template void lstm_block_cell_grad<double>(const Context&);

}  // namespace backgauge::saboteurs
