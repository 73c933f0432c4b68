// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2. Only the gradient of the states is serial: lstm_steps.h or, as one kernel, clusters/. The gate
// gradients of all steps are stored in the type of the tensors; w_grad follows as products over all S * B rows, and
// x_grad in parallel with it, or in groups of steps in parallel with the remaining ones. Sums over rows are computed
// from the floats before they are stored.
#include <algorithm>

#include "impl/cuda/aligned.h"
#include "impl/cuda/clusters/lstm.h"
#include "impl/cuda/column_sums.h"
#include "impl/cuda/device/settings.h"
#include "impl/cuda/lstm_steps.h"
#include "impl/cuda/ops.h"

namespace backgauge::cuda {
namespace {

// Rows of a product of x_grad: enough to keep a GPU busy.
constexpr std::int64_t kSideRows = 2048;

// Whether the matrices of every step's product are aligned to vectors if those of the call are.
template <class S>
bool steps_are_aligned(const Extents& e) {
  return is_aligned(e.B * 4 * e.H, sizeof(S)) && is_aligned(e.I * 4 * e.H, sizeof(S));
}

RecurrenceSizes sizes_of(const Extents& e) { return {e.S, e.B, e.H}; }

template <class S>
ClusterPlan plan(const Extents& e) {
  return plan_lstm_clusters<S>(sizes_of(e), e.peephole, settings().cluster_blocks);
}

template <class From, class To>
struct ConvertKernel {
  static constexpr int kThreads = 256, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  const From* from;
  To* to;
  std::int64_t count;

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const std::int64_t k = thread.block * kThreads + thread.index;
    if (k < count) to[k] = narrow<To>(wide(from[k]));
  }
};

template <class From, class To>
void convert(Queue& queue, const From* from, To* to, std::int64_t count) {
  using Kernel = ConvertKernel<From, To>;
  queue.launch(blocks_for(count, Kernel::kThreads), Kernel{from, to, count});
}

template <class S>
class BlockLstmGrad {
  using Real = Compute<S>;
  static constexpr std::int64_t kBytes = sizeof(S);
  // Whether w_grad's sums over two products need separate memory.
  static constexpr bool kNarrow = !std::is_same_v<S, Real>;
  static constexpr int kSides = 1;

 public:
  BlockLstmGrad(const BlockLstmGradV2Call<S>& call, Workspace& workspace)
      : c(call),
        shape_{.B = c.B, .H = c.H, .peephole = c.peephole},
        clusters_(plan<S>(c)),
        rows_(c.S * c.B),
        carried_rows_(clusters_ ? 0 : c.B),
        sum_rows_(clusters_ ? clusters_.count : c.S * cell_row_blocks(c.B, 1)),
        dgates_(take_operand<S>(workspace, {rows_, 4, c.H})),
        dh_(workspace.take<Real>({carried_rows_, c.H})),
        dcs_(workspace.take<Real>({carried_rows_, c.H})),
        sums_(workspace.take<Real>({sum_rows_, cell_sums(true, c.peephole), c.H})),
        totals_(sum_rows_, cell_sums(true, c.peephole) * c.H, workspace),
        w_h_grad_(workspace.take<Real>({kNarrow && c.S > 1 ? c.H : 0, 4, c.H})),
        x_(workspace, c.x, rows_ * c.I),
        w_(workspace, c.w, (c.I + c.H) * 4 * c.H),
        h_prev_(workspace, c.h_prev, c.B * c.H),
        h_(workspace, c.h, std::max<std::int64_t>(rows_ - c.B, 0) * c.H),
        x_grad_(workspace, c.x_grad, rows_ * c.I),
        w_grad_(workspace, c.w_grad, (c.I + c.H) * 4 * c.H),
        place_(workspace.take<StepArguments<S>>({1})),
        scratch_(workspace.take<std::byte>({Work::scratch_bytes(kSides)})) {}

  void run(void* stream) {
    Work work(stream, scratch_, kSides);
    if (c.S == 0) {
      clear(work.main());
    } else {
      Queue& queue = work.main();
      x_.fetch(queue);
      w_.fetch(queue);
      h_prev_.fetch(queue);
      h_.fetch(queue);
      queue.zero(c.x_grad + rows_ * c.I, (c.T - c.S) * c.B * c.I * kBytes);
      if (clusters_) {
        go_back_in_clusters(queue, sizes_of(c), c.peephole, clusters_.blocks, cluster_tensors(), sums_);
        work.side(0).wait_for(queue);
        input_gradient(work.side(0), 0, c.S);
      } else {
        find_shape();
        go_back(work);
      }
      weight_gradient(queue);
      sums(queue);
      queue.wait_for(work.side(0));
      w_grad_.deliver(queue);
      x_grad_.deliver(queue);
    }
    work.finish();
  }

 private:
  Operand<const S> w_h() const { return w_.operand() + c.I * 4 * c.H; }

  void find_shape() {
    const bool same = is_aligned(c.H, kBytes, c.cs_prev, c.cs, c.i, c.f, c.o, c.ci, c.co, c.cs_grad, c.h_grad);
    shape_.wide = same && (!c.peephole || is_aligned(c.H, kBytes, c.wci, c.wcf, c.wco));
    shape_.aligned = steps_are_aligned<S>(c);
    shape_.indirect = steps_can_be_indirect<S>(shape_);
  }

  // Runs all steps, and x_grad in parallel with them.
  void go_back(Work& work) const {
    Queue& queue = work.main();
    const std::shared_ptr<StepGraph<S>> graph =
        c.S < kGraphSteps || work.is_recorded() ? nullptr : find_step_graph<S>(shape_);
    // If another call is using the graph, this one runs without it.
    std::unique_lock<std::mutex> lock;
    if (graph != nullptr) lock = std::unique_lock(graph->mutex, std::try_to_lock);
    StepArguments<S>* const place = lock.owns_lock() ? graph->place() : place_;
    if (lock.owns_lock()) queue.wait_for(graph->last_use);

    queue.zero(dh_, c.B * c.H * static_cast<std::int64_t>(sizeof(Real)));
    queue.zero(dcs_, c.B * c.H * static_cast<std::int64_t>(sizeof(Real)));
    const StepArguments<S> arguments = first_arguments();
    set_arguments(queue, arguments, place);
    std::int64_t left = c.S, with_x_grad = c.S;
    while (left > 0) {
      const int count = static_cast<int>(std::min<std::int64_t>(left, kGraphSteps));
      if (lock.owns_lock() && count == kGraphSteps) {
        queue.replay(graph->graph());
      } else {
        do_chunk(queue, shape_, count, place, arguments, left - 1);
      }
      left -= count;
      if (left == 0 || (with_x_grad - left) * c.B >= kSideRows) {
        work.side(0).wait_for(queue);
        input_gradient(work.side(0), left, with_x_grad - left);
        with_x_grad = left;
      }
    }
    if (lock.owns_lock()) {
      queue.record(graph->last_use);
      queue.keep(graph);
    }
    convert(queue, dh_, c.h_prev_grad, c.B * c.H);
    convert(queue, dcs_, c.cs_prev_grad, c.B * c.H);
  }

  StepArguments<S> first_arguments() const {
    StepArguments<S> a{};
    static_cast<LstmInputs<S>&>(a) = lstm_inputs<S>(c);
    a.dgates = dgates_;
    a.dh = dh_;
    a.dcs = dcs_;
    a.sums = sums_;
    a.steps_left = c.S;
    a.w_h = w_h().data;
    a.w_h_low = w_h().lower();
    a.dh_address = dh_;
    return a;
  }

  LstmTensors<S> cluster_tensors() const {
    return {lstm_inputs<S>(c), c.w + c.I * 4 * c.H, dgates_, c.h_prev_grad, c.cs_prev_grad};
  }

  // x_grad = dgates W_x^T, for `count` steps from `first` on.
  void input_gradient(Queue& queue, std::int64_t first, std::int64_t count) const {
    const Operand<const S> dgates = dgates_ + first * c.B * 4 * c.H, w = w_.operand();
    S* const x_grad = x_grad_.data() + first * c.B * c.I;
    multiply(queue,
             {.rows = count * c.B,
              .columns = c.I,
              .depth = 4 * c.H,
              .b_transposed = true,
              .a_stride = 4 * c.H,
              .b_stride = 4 * c.H,
              .result_stride = c.I},
             dgates, w, x_grad);
  }

  // to[columns, 4H] (+)= from[rows, columns]^T dgates, from row `first` of dgates on.
  template <class Result>
  void weight_product(Queue& queue, const Operand<const S>& from, std::int64_t columns, std::int64_t first,
                      std::int64_t rows, bool added, Result* to) const {
    const Operand<const S> dgates = dgates_ + first * 4 * c.H;
    multiply(queue,
             {.rows = columns,
              .columns = 4 * c.H,
              .depth = rows,
              .a_transposed = true,
              .added = added,
              .a_stride = columns,
              .b_stride = 4 * c.H,
              .result_stride = 4 * c.H},
             from, dgates, to);
  }

  // w_grad = [x, h before]^T dgates.
  void weight_gradient(Queue& queue) const {
    weight_product(queue, x_.operand(), c.I, 0, rows_, false, w_grad_.data());
    S* const w_h_grad = w_grad_.data() + c.I * 4 * c.H;
    if (c.S == 1) return weight_product(queue, h_prev_.operand(), c.H, 0, c.B, false, w_h_grad);
    if constexpr (kNarrow) {
      recurrent_weights(queue, w_h_grad_);
      convert(queue, w_h_grad_, w_h_grad, c.H * 4 * c.H);
    } else {
      recurrent_weights(queue, w_h_grad);
    }
  }

  void recurrent_weights(Queue& queue, Real* to) const {
    weight_product(queue, h_prev_.operand(), c.H, 0, c.B, false, to);
    weight_product(queue, h_.operand(), c.H, c.B, rows_ - c.B, true, to);
  }

  void sums(Queue& queue) const {
    S* const b = c.b_grad;
    if (c.peephole) {
      return totals_.template run<S, 7>(queue, sums_,
                                        {b, b + c.H, b + 2 * c.H, b + 3 * c.H, c.wci_grad, c.wcf_grad, c.wco_grad});
    }
    totals_.template run<S, 1>(queue, sums_, {b});
    clear_peepholes(queue);
  }

  void clear(Queue& queue) const {
    queue.zero(c.x_grad, c.T * c.B * c.I * kBytes);
    queue.zero(c.w_grad, (c.I + c.H) * 4 * c.H * kBytes);
    queue.zero(c.b_grad, 4 * c.H * kBytes);
    queue.zero(c.cs_prev_grad, c.B * c.H * kBytes);
    queue.zero(c.h_prev_grad, c.B * c.H * kBytes);
    clear_peepholes(queue);
  }

  void clear_peepholes(Queue& queue) const {
    S* const all[] = {c.wci_grad, c.wcf_grad, c.wco_grad};
    for (S* const to : all) queue.zero(to, c.H * kBytes);
  }

  const BlockLstmGradV2Call<S>& c;
  StepShape shape_;
  ClusterPlan clusters_;
  std::int64_t rows_, carried_rows_, sum_rows_;
  Operand<S> dgates_;  // [S, B, 4H], gates i, f, c, o
  Real *dh_, *dcs_;    // [carried_rows_, H]: gradients of the states before the finished steps
  Real* sums_;         // [sum_rows_, cell_sums(), H]
  ColumnSums<Real> totals_;
  Real* w_h_grad_;  // [H, 4H], before it is rounded
  AlignedInput<S> x_, w_, h_prev_, h_;
  AlignedOutput<S> x_grad_, w_grad_;
  StepArguments<S>* place_;
  std::byte* scratch_;
};

}  // namespace

template <class S>
void block_lstm_grad_v2(const BlockLstmGradV2Call<S>& call, Workspace& workspace, void* stream) {
  BlockLstmGrad<S> op(call, workspace);
  if (!workspace.counts_only()) op.run(stream);
}

template <class S>
void prepare_block_lstm_grad_v2(const Extents& e) {
  if (e.S < kGraphSteps || e.B == 0 || plan<S>(e)) return;
  StepShape shape{.B = e.B, .H = e.H, .peephole = e.peephole, .wide = is_aligned(e.H, sizeof(S))};
  shape.aligned = steps_are_aligned<S>(e);
  shape.indirect = steps_can_be_indirect<S>(shape);
  prepare_step_graph<S>(shape);
}

template void block_lstm_grad_v2(const BlockLstmGradV2Call<Half>&, Workspace&, void*);
template void block_lstm_grad_v2(const BlockLstmGradV2Call<float>&, Workspace&, void*);
template void prepare_block_lstm_grad_v2<Half>(const Extents&);
template void prepare_block_lstm_grad_v2<float>(const Extents&);

}  // namespace backgauge::cuda
