// SPDX-License-Identifier: Apache-2.0
// CudnnRNNBackprop, from the last layer to the first, the directions of a layer in parallel. Only the product of gate
// gradients and R is serial, step by step or, as one kernel, in clusters/. The gradients of the input follow as
// products over all T * B rows; so do those of the weights, in parallel with the steps of the layer below.
// reference/semantics.md 3.4.
#include <algorithm>

#include "impl/cuda/aligned.h"
#include "impl/cuda/clusters/rnn.h"
#include "impl/cuda/column_sums.h"
#include "impl/cuda/device/settings.h"
#include "impl/cuda/dropout.h"
#include "impl/cuda/ops.h"
#include "impl/cuda/rnn_backward_step.h"
#include "impl/cuda/rows.h"

namespace backgauge::cuda {
namespace {

// For each step, the h before it.
template <class S>
struct StatesBefore {
  const S* initial;  // [B, H]
  const S* y;        // values, of step 0
  std::int64_t T, B, columns, y_stride;
  bool backwards;

  template <int kCount>
  BACKGAUGE_BOTH void get(std::int64_t row, std::int64_t column, Compute<S> (&to)[kCount]) const {
    const bool first = backwards ? row >= (T - 1) * B : row < B;
    if (first) {
      load(initial + row % B * columns + column, to);
    } else {
      load_values(y, (backwards ? row + B : row - B) * y_stride + column, to);
    }
  }
};

// Applies dropout to values.
template <class S>
struct DroppedValues {
  const S* values;
  const std::uint8_t* keep;  // nullptr: nothing is dropped
  Compute<S> scale;
  std::int64_t stride;

  template <int kCount>
  BACKGAUGE_BOTH void get(std::int64_t row, std::int64_t column, Compute<S> (&to)[kCount]) const {
    const std::int64_t at = row * stride + column;
    load_values(values, at, to);
    if (keep == nullptr) return;
    BACKGAUGE_UNROLL
    for (int k = 0; k < kCount; ++k) to[k] = keep[at + k] != 0 ? to[k] * scale : 0;
  }
};

template <class S>
class RnnBackprop {
  using Real = Compute<S>;
  static constexpr std::int64_t kBytes = sizeof(S);
  // Whether products read and write other types than the type of the computation.
  static constexpr bool kNarrow = !std::is_same_v<S, Real>;

 public:
  RnnBackprop(const CudnnRnnBackpropCall<S>& call, Workspace& workspace)
      : c(call),
        n(rnn_sizes(call, call.attributes)),
        params_(rnn_params(call.attributes, call.I, call.H, call.L)),
        trace_(n, call.reserve_space),
        input_(workspace, c.input, n.rows() * c.I),
        weights_(workspace, c.params, c.params_length),
        input_backprop_(workspace, c.input_backprop, n.rows() * c.I),
        params_backprop_(workspace, c.params_backprop, c.params_length),
        gradients_(n.mode == BACKGAUGE_GRU ? GruCell::kGradients : n.G),
        clusters_(plan()),
        carried_rows_(clusters_ ? 0 : n.B),
        sum_rows_(clusters_ ? clusters_.count : n.T * rnn_row_blocks(n.B)),
        totals_(sum_rows_, gradients_ * n.H, workspace),
        states_before_(take_operand<S>(workspace, {n.T, n.B, n.H})),
        inputs_(take_operand<S>(workspace, {n.L > 1 ? n.T : 0, n.B, n.D, n.H})),
        input_grad_(kNarrow && n.D == 2 && !params_.skip_input ? workspace.take<Real>({n.T, n.B, c.I}) : nullptr),
        sides_(static_cast<int>(n.D)) {
    for (std::int64_t d = 0; d < n.D; ++d) {
      for (std::int64_t parity = 0; parity < std::min<std::int64_t>(n.L, 2); ++parity) {
        dgates_[parity][d] = take_operand<S>(workspace, {n.T, n.B, gradients_, n.H});
        sums_[parity][d] = workspace.take<Real>({sum_rows_, gradients_, n.H});
      }
      dh_[d] = workspace.take<Real>({carried_rows_, n.H});
      if (c.lstm) dc_[d] = workspace.take<Real>({carried_rows_, n.H});
      if (gru() && !clusters_) recurrent_[d] = take_operand<S>(workspace, {n.G, n.H, n.H});
      if (params_.skip_input) gate_sums_[d] = workspace.take<Real>({n.T, n.B, n.H});
    }
    for (std::int64_t parity = 0; parity < std::min<std::int64_t>(n.L - 1, 2); ++parity) {
      dx_[parity] = workspace.take<Real>({n.T, n.B, n.D, n.H});
    }
    if (n.has_masks && n.D == 2) second_dx_ = workspace.take<Real>({n.T, n.B, n.D, n.H});
    scratch_ = workspace.take<std::byte>({Work::scratch_bytes(sides_)});
  }

  void run(void* stream) {
    Work work(stream, scratch_, sides_);
    wide_ = is_aligned(n.H, kBytes, c.input_h, c.input_c, c.reserve_space, c.output_backprop, c.output_h_backprop,
                       c.output_c_backprop, c.input_h_backprop, c.input_c_backprop);
    Queue &main = work.main(), &second = work.side(0), &weights = work.side(sides_ - 1);
    input_.fetch(main);
    weights_.fetch(main);
    for (std::int64_t layer = n.L - 1; layer >= 0; --layer) {
      if (n.D == 2) second.wait_for(main);
      for (std::int64_t d = 0; d < n.D; ++d) go_back(d == 0 ? main : second, layer, d);
      if (n.D == 2) main.wait_for(second);
      main.wait_for(weights);  // of the layer above: its gate gradients use the memory of those of the layer below
      weights.wait_for(main);
      weight_gradients(weights, layer);
      input_gradient(main, layer);
    }
    main.wait_for(weights);
    input_backprop_.deliver(main);
    params_backprop_.deliver(main);
    work.finish();
  }

 private:
  bool gru() const { return n.mode == BACKGAUGE_GRU; }
  bool skips(std::int64_t layer) const { return layer == 0 && params_.skip_input; }
  std::int64_t state(std::int64_t layer, std::int64_t d) const { return (layer * n.D + d) * n.B * n.H; }
  Operand<S> dgates(std::int64_t layer, std::int64_t d) const { return dgates_[layer % 2][d]; }
  // The columns of the input side among those of the gate gradients.
  Operand<const S> input_side(std::int64_t layer, std::int64_t d) const {
    return dgates(layer, d) + (gradients_ - n.G) * n.H;
  }
  // A GRU's candidate comes first on the recurrent side.
  std::int64_t recurrent_gate(std::int64_t column) const { return gru() ? (column + n.G - 1) % n.G : column; }

  RecurrenceSizes sizes() const { return {n.T, n.B, n.H}; }

  ClusterPlan plan() const {
    if constexpr (std::is_same_v<S, double>) {
      return {};
    } else {
      return plan_rnn_clusters<S>(n.mode, sizes(), settings().cluster_blocks);
    }
  }

  // Runs all steps of one pseudo-layer, as one kernel.
  void go_back_at_once(Queue& queue, std::int64_t layer, std::int64_t d) const {
    if constexpr (!std::is_same_v<S, double>) {
      const std::int64_t at = state(layer, d), column = d * n.H;
      const bool top = layer == n.L - 1;
      go_back_in_clusters<S>(queue, n.mode, sizes(), clusters_.blocks,
                             {.kept = trace_.kept(layer * n.D + d, 0),
                              .y = trace_.y(layer, d, 0),
                              .input_h = c.input_h + at,
                              .input_c = c.lstm ? c.input_c + at : nullptr,
                              .R = c.params + params_.R(layer, d, 0),
                              .output_backprop = top ? c.output_backprop + column : nullptr,
                              .dy = top ? nullptr : dx_[layer % 2] + column,
                              .output_h_backprop = c.output_h_backprop + at,
                              .output_c_backprop = c.lstm ? c.output_c_backprop + at : nullptr,
                              .dgates = dgates(layer, d),
                              .gate_sums = skips(layer) ? gate_sums_[d] : nullptr,
                              .input_h_backprop = c.input_h_backprop + at,
                              .input_c_backprop = c.lstm ? c.input_c_backprop + at : nullptr,
                              .y_stride = n.width(),
                              .backwards = d == 1},
                             sums_[layer % 2][d]);
    }
  }

  // Runs all steps of one pseudo-layer.
  void go_back(Queue& queue, std::int64_t layer, std::int64_t d) const {
    if (clusters_) return go_back_at_once(queue, layer, d);
    const std::int64_t size = n.B * n.H, at = state(layer, d), pseudo_layer = layer * n.D + d;
    const Operand<const S> R = recurrent_weights(queue, layer, d);
    make_rows<S>(queue, StoredRows<S>{c.output_h_backprop + at, n.H}, dh_[d], n.B, n.H, wide_);
    if (c.lstm) make_rows<S>(queue, StoredRows<S>{c.output_c_backprop + at, n.H}, dc_[d], n.B, n.H, wide_);
    const std::int64_t sum_step = rnn_row_blocks(n.B) * gradients_ * n.H;
    for (std::int64_t step = n.T - 1; step >= 0; --step) {
      const std::int64_t t = d == 0 ? step : n.T - 1 - step, before = d == 0 ? t - 1 : t + 1;
      const bool first = step == 0, top = layer == n.L - 1;
      const std::int64_t y_at = t * n.B * n.width() + d * n.H;
      const Operand<S> dgates_now = dgates(layer, d) + t * size * gradients_;
      RnnBackwardStep<S> s{};
      s.kept = trace_.kept(pseudo_layer, t);
      s.y = trace_.y(layer, d, t);
      s.initial_h = first ? c.input_h + at : nullptr;
      s.initial_c = first && c.lstm ? c.input_c + at : nullptr;
      s.y_before = first ? nullptr : trace_.y(layer, d, before);
      s.kept_before = first ? nullptr : trace_.kept(pseudo_layer, before);
      s.output_backprop = top ? c.output_backprop + y_at : nullptr;
      s.dy = top ? nullptr : dx_[layer % 2] + y_at;
      s.dh = dh_[d];
      s.dc = dc_[d];
      s.dgates = dgates_now;
      s.sums = sums_[layer % 2][d] + t * sum_step;
      s.gate_sums = skips(layer) ? gate_sums_[d] + t * size : nullptr;
      s.y_stride = n.width();
      launch(queue, s);
      state_product(queue, dgates_now, R, dh_[d]);
    }
    const ComputedRows<Real> dh{dh_[d], nullptr, n.H}, dc{dc_[d], nullptr, n.H};
    make_rows<S>(queue, dh, c.input_h_backprop + at, n.B, n.H, wide_);
    if (c.lstm) make_rows<S>(queue, dc, c.input_c_backprop + at, n.B, n.H, wide_);
  }

  void launch(Queue& queue, const RnnBackwardStep<S>& step) const {
    with_cell(n.mode, [&](auto cell) {
      with_width<S>(wide_, [&](auto width) {
        using Kernel = RnnBackwardKernel<decltype(cell), S, width>;
        queue.launch(Kernel::blocks(n.B, n.H), Kernel{step, n.B, n.H});
      });
    });
  }

  // R [G*H, H] with gates in the order of the columns of the gate gradients.
  Operand<const S> recurrent_weights(Queue& queue, std::int64_t layer, std::int64_t d) const {
    const Operand<const S> R = weights_.operand() + params_.R(layer, d, 0);
    if (!gru()) return R;
    const std::int64_t matrix = n.H * n.H;
    for (std::int64_t column = 0; column < n.G; ++column) {
      const Operand<S> to = recurrent_[d] + column * matrix;
      const Operand<const S> from = R + recurrent_gate(column) * matrix;
      queue.copy(to.data, from.data, matrix * kBytes);
      if (to.low != 0) queue.copy(to.lower(), from.lower(), matrix * kBytes);
    }
    return recurrent_[d];
  }

  // dh[B, H] = dgates[B, G*H] R; a GRU adds it to the part that bypasses its gates.
  void state_product(Queue& queue, const Operand<const S>& dgates, const Operand<const S>& R, Real* dh) const {
    multiply(queue,
             {.rows = n.B,
              .columns = n.H,
              .depth = n.G * n.H,
              .added = gru(),
              .a_stride = gradients_ * n.H,
              .b_stride = n.H,
              .result_stride = n.H},
             dgates, R, dh);
  }

  // dx = da W, first the forward direction, then the other one; then through the dropout between the layers.
  void input_gradient(Queue& queue, std::int64_t layer) const {
    if (skips(layer)) {
      const ComputedRows<Real> sum{gate_sums_[0], gate_sums_[1], n.H};
      const bool wide = wide_ && is_aligned(n.H, kBytes, input_backprop_.data());
      return make_rows<S>(queue, sum, input_backprop_.data(), n.rows(), n.H, wide);
    }
    if (layer > 0) {
      Real* const dx = dx_[(layer - 1) % 2];
      if (!n.has_masks) return input_products(queue, layer, dx);
      for (std::int64_t d = 0; d < n.D; ++d) {
        using Kernel = DropBackKernel<Real>;
        Real* const side = d == 0 ? dx : second_dx_;
        input_product(queue, layer, d, side, false);
        queue.launch(Kernel::blocks(n.gap()), Kernel{side, dx, trace_.keep(n.mask(layer - 1, d)), n.gap(),
                                                     dropout_scale<Real>(c.attributes.dropout), d > 0});
      }
    } else if (input_grad_ != nullptr) {
      input_products(queue, layer, input_grad_);
      const bool wide = is_aligned(c.I, kBytes, input_backprop_.data());
      make_rows<S>(queue, ComputedRows<Real>{input_grad_, nullptr, c.I}, input_backprop_.data(), n.rows(), c.I, wide);
    } else {
      input_products(queue, layer, input_backprop_.data());
    }
  }

  template <class Result>
  void input_products(Queue& queue, std::int64_t layer, Result* dx) const {
    for (std::int64_t d = 0; d < n.D; ++d) input_product(queue, layer, d, dx, d > 0);
  }
  template <class Result>
  void input_product(Queue& queue, std::int64_t layer, std::int64_t d, Result* dx, bool added) const {
    const std::int64_t width = params_.matrix_input(layer);
    const Operand<const S> da = input_side(layer, d), W = weights_.operand() + params_.W(layer, d, 0);
    multiply(queue,
             {.rows = n.rows(),
              .columns = width,
              .depth = n.G * n.H,
              .added = added,
              .a_stride = gradients_ * n.H,
              .b_stride = width,
              .result_stride = width},
             da, W, dx);
  }

  // dW = da^T x, dR = dr^T (h before), and their sums over rows.
  void weight_gradients(Queue& queue, std::int64_t layer) const {
    Operand<const S> x = input_.operand();
    const std::int64_t width = params_.matrix_input(layer);
    for (std::int64_t d = 0; d < n.D; ++d) {
      const StatesBefore<S> h{c.input_h + state(layer, d), trace_.y(layer, d, 0), n.T, n.B, n.H, n.width(), d == 1};
      make_rows<S>(queue, h, states_before_, n.rows(), n.H, wide_);
      if (layer > 0 && (d == 0 || n.has_masks)) x = input_of(queue, layer, d);
      weight_product(queue, input_side(layer, d), n.G, x, width, params_backprop_.data() + params_.W(layer, d, 0));
      S* const dR = params_backprop_.data() + params_.R(layer, d, 0);
      if (gru()) {
        const std::int64_t candidate = recurrent_gate(0) * n.H * n.H;
        weight_product(queue, dgates(layer, d), 1, states_before_, n.H, dR + candidate);
        weight_product(queue, dgates(layer, d) + n.H, n.G - 1, states_before_, n.H, dR);
      } else {
        weight_product(queue, dgates(layer, d), n.G, states_before_, n.H, dR);
      }
      bias_gradients(queue, layer, d);
    }
  }

  // to[gates * H, width] = gate gradients[T*B, gates * H]^T from[T*B, width].
  void weight_product(Queue& queue, const Operand<const S>& gate_gradients, std::int64_t gates,
                      const Operand<const S>& from, std::int64_t width, S* to) const {
    multiply(queue,
             {.rows = gates * n.H,
              .columns = width,
              .depth = n.rows(),
              .a_transposed = true,
              .a_stride = gradients_ * n.H,
              .b_stride = width,
              .result_stride = width},
             gate_gradients, from, to);
  }

  void bias_gradients(Queue& queue, std::int64_t layer, std::int64_t d) const {
    const Real* const sums = sums_[layer % 2][d];
    S *const bW = params_backprop_.data() + params_.bW(layer, d, 0), *const bR = params_backprop_.data() +
                                                                                 params_.bR(layer, d, 0);
    if (gru()) {
      S* const candidate = bR + recurrent_gate(0) * n.H;
      totals_.template run<S, 4>(queue, sums, {candidate, bW, bW + n.H, bW + 2 * n.H});
      queue.copy(bR, bW, (n.G - 1) * n.H * kBytes);
    } else {
      totals_.template run<S, 1>(queue, sums, {bW});
      queue.copy(bR, bW, n.G * n.H * kBytes);
    }
  }

  // The input of a direction of a layer above the first, as products read it.
  Operand<const S> input_of(Queue& queue, std::int64_t layer, std::int64_t d) const {
    const S* const y = trace_.y(layer - 1);
    if (!kNarrow && !n.has_masks && inputs_.low == 0 && is_aligned(0, kBytes, y)) return {y};
    const DroppedValues<S> values{y, trace_.keep(n.mask(layer - 1, d)), dropout_scale<Real>(c.attributes.dropout),
                                  n.width()};
    make_rows<S>(queue, values, inputs_, n.rows(), n.width(), wide_);
    return inputs_;
  }

  const CudnnRnnBackpropCall<S>& c;
  const RnnSizes n;
  const RnnParams params_;
  const RnnTrace<const S> trace_;
  const AlignedInput<S> input_, weights_;
  const AlignedOutput<S> input_backprop_, params_backprop_;
  std::int64_t gradients_;
  ClusterPlan clusters_;
  std::int64_t carried_rows_, sum_rows_;
  ColumnSums<Real> totals_;
  Operand<S> states_before_;  // [T, B, H]
  Operand<S> inputs_;         // [T, B, D*H]: input of a layer above the first, if it is not y itself
  Real* input_grad_;          // [T, B, I], before it is rounded
  int sides_;
  // For each direction; the first index is that of the layer, modulo 2.
  Operand<S> dgates_[2][2] = {};    // [T, B, gradients * H]
  Real* sums_[2][2] = {};           // [sum_rows_, gradients * H]
  Real *dh_[2] = {}, *dc_[2] = {};  // [carried_rows_, H]: gradients of the states before the finished steps
  Operand<S> recurrent_[2] = {};    // gru: recurrent_weights()
  Real* gate_sums_[2] = {};         // [T, B, H]
  Real* dx_[2] = {};                // [T, B, D*H]: of y of a layer, modulo 2
  Real* second_dx_ = nullptr;       // [T, B, D*H]: the second direction's part of it, before its mask
  std::byte* scratch_;
  bool wide_ = false;
};

}  // namespace

template <class S>
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<S>& call, Workspace& workspace, void* stream) {
  RnnBackprop<S> op(call, workspace);
  if (!workspace.counts_only()) op.run(stream);
}

template void cudnn_rnn_backprop(const CudnnRnnBackpropCall<Half>&, Workspace&, void*);
template void cudnn_rnn_backprop(const CudnnRnnBackpropCall<float>&, Workspace&, void*);
template void cudnn_rnn_backprop(const CudnnRnnBackpropCall<double>&, Workspace&, void*);

}  // namespace backgauge::cuda
