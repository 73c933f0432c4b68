// SPDX-License-Identifier: Apache-2.0
// CudnnRNN in training, layer by layer, the directions of a layer in parallel. W x of all steps is one product; a step
// is R h and a kernel. reference/semantics.md 3.3.
#include <algorithm>

#include "impl/cuda/aligned.h"
#include "impl/cuda/dropout.h"
#include "impl/cuda/ops.h"
#include "impl/cuda/rnn_forward_step.h"

namespace backgauge::cuda {
namespace {

template <class S>
class RnnForward {
  using Real = Compute<S>;
  static constexpr std::int64_t kBytes = sizeof(S);

 public:
  RnnForward(const CudnnRnnCall<S>& call, Workspace& workspace)
      : c(call),
        n(rnn_sizes(call, call.attributes)),
        params_(rnn_params(call.attributes, call.I, call.H, call.L)),
        trace_(n, call.reserve_space),
        input_(workspace, c.input, n.rows() * c.I),
        input_h_(workspace, c.input_h, n.L * n.D * n.B * n.H),
        weights_(workspace, c.params, c.params_length),
        output_(workspace, c.output, n.gap()),
        sides_(static_cast<int>(n.D) - 1) {
    for (std::int64_t d = 0; d < n.D; ++d) {
      input_side_[d] = workspace.take<Real>({n.T, n.B, n.G, n.H});
      recurrent_side_[d] = workspace.take<Real>({n.B, n.G, n.H});
    }
    for (std::int64_t k = 0; k < std::min<std::int64_t>(operands_are_split<S>() ? n.L : n.L - 1, 2); ++k) {
      inputs_[k] = take_operand<S>(workspace, {n.T, n.B, n.D, n.H});
    }
    if (n.has_masks && n.D == 2) second_input_ = take_operand<S>(workspace, {n.T, n.B, n.D, n.H});
    scratch_ = workspace.take<std::byte>({Work::scratch_bytes(sides_)});
  }

  void run(void* stream) {
    Work work(stream, scratch_, sides_);
    const S* const x = params_.skip_input ? c.input : nullptr;
    wide_ = is_aligned(n.H, kBytes, biases(0, 0), c.input_h, c.input_c, x, c.reserve_space, c.output_h, c.output_c);
    Queue& main = work.main();
    input_.fetch(main);
    input_h_.fetch(main);
    weights_.fetch(main);
    Operand<const S> from[2] = {input_.operand(), input_.operand()};
    for (std::int64_t layer = 0; layer < n.L; ++layer) {
      if (n.D == 2) work.side(0).wait_for(main);
      for (std::int64_t d = 0; d < n.D; ++d) go_forward(d == 0 ? main : work.side(0), layer, d, from[d]);
      if (n.D == 2) main.wait_for(work.side(0));
      if (layer + 1 == n.L) break;
      for (std::int64_t d = 0; d < n.D; ++d) from[d] = input_above(main, layer, d);
    }
    if (operands_are_split<S>()) {
      main.copy(c.output, trace_.y(n.L - 1), n.gap() * kBytes);
    } else {
      output_.deliver(main);
    }
    clear_rest(main);
    work.finish();
  }

 private:
  bool skips(std::int64_t layer) const { return layer == 0 && params_.skip_input; }
  const S* biases(std::int64_t layer, std::int64_t d) const { return c.params + params_.bW(layer, d, 0); }

  // y of a layer as the products read it: for the last layer the output itself, unless operands are split.
  Operand<S> operand(std::int64_t layer) const {
    return layer == n.L - 1 && !operands_are_split<S>() ? Operand<S>{output_.data()} : inputs_[layer % 2];
  }

  // The input of a direction of the layer above: y after dropout.
  Operand<const S> input_above(Queue& queue, std::int64_t layer, std::int64_t d) const {
    if (!n.has_masks) return operand(layer);
    const Operand<S> x = d == 0 ? operand(layer) : second_input_;
    using Kernel = DropoutKernel<S>;
    const backgauge_attributes& a = c.attributes;
    queue.launch(Kernel::blocks(n.gap()),
                 Kernel{trace_.y(layer), trace_.keep(n.mask(layer, d)), x, n.gap(), dropout_key(a.seed, a.seed2), layer,
                        d, static_cast<double>(a.dropout), dropout_scale<Real>(a.dropout)});
    return x;
  }

  // result[rows, G*H] = from[rows, width] weights[G*H, width]^T.
  void gate_product(Queue& queue, const Operand<const S>& from, std::int64_t rows, std::int64_t width,
                    std::int64_t stride, const Operand<const S>& weights, Real* result) const {
    const std::int64_t GH = n.G * n.H;
    multiply(queue,
             {.rows = rows,
              .columns = GH,
              .depth = width,
              .b_transposed = true,
              .a_stride = stride,
              .b_stride = width,
              .result_stride = GH},
             from, weights, result);
  }

  void go_forward(Queue& queue, std::int64_t layer, std::int64_t d, const Operand<const S>& from) const {
    const std::int64_t pseudo_layer = layer * n.D + d, state = pseudo_layer * n.B * n.H;
    const std::int64_t width = params_.matrix_input(layer);
    if (!skips(layer)) {
      gate_product(queue, from, n.rows(), width, width, weights_.operand() + params_.W(layer, d, 0), input_side_[d]);
    }
    Operand<const S> h = input_h_.operand() + state;
    const Operand<const S> R = weights_.operand() + params_.R(layer, d, 0);
    std::int64_t h_stride = n.H, before = -1;
    for (std::int64_t step = 0; step < n.T; ++step) {
      const std::int64_t t = d == 0 ? step : n.T - 1 - step;
      const bool first = step == 0, last = step == n.T - 1;
      const Operand<S> operand_now = operand(layer) + t * n.B * n.width() + d * n.H;
      gate_product(queue, h, n.B, n.H, h_stride, R, recurrent_side_[d]);
      RnnForwardStep<S> s{};
      s.input_side = skips(layer) ? nullptr : input_side_[d] + t * n.B * n.G * n.H;
      s.x = skips(layer) ? c.input + t * n.B * n.H : nullptr;
      s.recurrent_side = recurrent_side_[d];
      s.bW = biases(layer, d);
      s.bR = c.params + params_.bR(layer, d, 0);
      s.initial_h = first ? c.input_h + state : nullptr;
      s.initial_c = first && c.lstm ? c.input_c + state : nullptr;
      s.y_before = first ? nullptr : trace_.y(layer, d, before);
      s.kept_before = first ? nullptr : trace_.kept(pseudo_layer, before);
      s.kept = trace_.kept(pseudo_layer, t);
      s.y = trace_.y(layer, d, t);
      s.operand = operand_now;
      s.last_h = last ? c.output_h + state : nullptr;
      s.last_c = last && c.lstm ? c.output_c + state : nullptr;
      s.y_stride = n.width();
      launch(queue, s);
      h = operand_now;
      h_stride = n.width();
      before = t;
    }
  }

  void launch(Queue& queue, const RnnForwardStep<S>& step) const {
    with_cell(n.mode, [&](auto cell) {
      with_width<S>(wide_, [&](auto width) {
        using Kernel = RnnForwardKernel<decltype(cell), S, width>;
        queue.launch(Kernel::blocks(n.B, n.H), Kernel{step, n.B, n.H});
      });
    });
  }

  // Clears the bytes after the masks, up to the end of the last element.
  void clear_rest(Queue& queue) const {
    const std::int64_t used = n.values() * static_cast<std::int64_t>(sizeof(Real)) + n.masks();
    queue.zero(reinterpret_cast<std::byte*>(c.reserve_space) + used, reserve_length<S>(n) * kBytes - used);
  }

  const CudnnRnnCall<S>& c;
  const RnnSizes n;
  const RnnParams params_;
  const RnnTrace<S> trace_;
  const AlignedInput<S> input_, input_h_, weights_;
  const AlignedOutput<S> output_;
  const int sides_;
  Real* input_side_[2] = {};      // [T, B, G*H] of each direction: W x
  Real* recurrent_side_[2] = {};  // [B, G*H]: R h
  Operand<S> inputs_[2] = {};     // [T, B, D*H]: operand() of a layer, modulo 2
  Operand<S> second_input_{};     // [T, B, D*H]: what the second direction of a layer reads
  std::byte* scratch_;
  bool wide_ = false;
};

}  // namespace

template <class S>
void cudnn_rnn_forward(const CudnnRnnCall<S>& call, Workspace& workspace, void* stream) {
  RnnForward<S> op(call, workspace);
  if (!workspace.counts_only()) op.run(stream);
}

template void cudnn_rnn_forward(const CudnnRnnCall<Half>&, Workspace&, void*);
template void cudnn_rnn_forward(const CudnnRnnCall<float>&, Workspace&, void*);
template void cudnn_rnn_forward(const CudnnRnnCall<double>&, Workspace&, void*);

}  // namespace backgauge::cuda
