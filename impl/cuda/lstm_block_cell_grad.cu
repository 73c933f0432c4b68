// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad: one kernel, and with peepholes the sums of its blocks. No output is written before the inputs that
// it may share memory with have been read: an element of cs_grad by the thread that writes cs_prev_grad there, the
// peephole weights by the previous kernel.
#include "impl/cuda/cell_kernel.h"
#include "impl/cuda/column_sums.h"
#include "impl/cuda/ops.h"

namespace backgauge::cuda {
namespace {

template <class S>
struct OneStep {
  using Storage = S;
  static constexpr bool kCarried = false;
  CellTensors<S> all;

  BACKGAUGE_BOTH const CellTensors<S>& tensors() const { return all; }
};

template <class S, int kWidth, bool kPeephole>
void launch_cell(const LstmBlockCellGradCall<S>& c, const CellTensors<S>& tensors, std::int64_t rows_each,
                 Queue& queue) {
  using Kernel = CellKernel<OneStep<S>, kWidth, kPeephole>;
  queue.launch(Kernel::blocks(c.B, c.H, rows_each), Kernel{{tensors}, c.B, c.H, rows_each});
}

// Groups of four rows per block: fewer and longer blocks write fewer sums.
std::int64_t rows_each(std::int64_t B, std::int64_t H) { return B >= kManyElements / H ? 4 : 1; }

template <class S>
bool is_wide(const LstmBlockCellGradCall<S>& c) {
  const bool same =
      is_aligned(c.H, sizeof(S), c.cs_prev, c.i, c.f, c.o, c.ci, c.co, c.cs_grad, c.h_grad, c.dicfo, c.cs_prev_grad);
  return same && (!c.peephole || is_aligned(c.H, sizeof(S), c.cs, c.wci, c.wcf, c.wco));
}

}  // namespace

template <class S>
void lstm_block_cell_grad(const LstmBlockCellGradCall<S>& c, Workspace& workspace, void* stream) {
  using Real = Compute<S>;
  constexpr int kSums = cell_sums(false, true);
  const std::int64_t each = rows_each(c.B, c.H), row_blocks = cell_row_blocks(c.B, each);
  Real* const sums = c.peephole ? workspace.take<Real>({row_blocks, kSums, c.H}) : nullptr;
  const ColumnSums<Real> totals(c.peephole ? row_blocks : 0, kSums * c.H, workspace);
  if (workspace.counts_only()) return;

  Work work(stream, nullptr, 0);
  Queue& queue = work.main();
  const CellTensors<S> tensors = {lstm_inputs<S>(c), c.dicfo, c.dicfo + 2 * c.H, c.dicfo + c.H, c.dicfo + 3 * c.H,
                                  c.cs_prev_grad,    nullptr, nullptr,           sums};
  with_width<S>(is_wide(c), [&](auto width) {
    c.peephole ? launch_cell<S, width, true>(c, tensors, each, queue)
               : launch_cell<S, width, false>(c, tensors, each, queue);
  });
  if (c.peephole) {
    totals.template run<S, kSums>(queue, sums, {c.wci_grad, c.wcf_grad, c.wco_grad});
  } else {
    S* const zeros[] = {c.wci_grad, c.wcf_grad, c.wco_grad};
    for (S* const to : zeros) queue.zero(to, c.H * static_cast<std::int64_t>(sizeof(S)));
  }
  work.finish();
}

template void lstm_block_cell_grad(const LstmBlockCellGradCall<Half>&, Workspace&, void*);
template void lstm_block_cell_grad(const LstmBlockCellGradCall<float>&, Workspace&, void*);

}  // namespace backgauge::cuda
