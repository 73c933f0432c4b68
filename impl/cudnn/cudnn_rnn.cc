// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/ops.h"

namespace backgauge::cudnn {
namespace {

// Puts weights of width 1 where a call without inputs has none, and takes them away again.
class WidenedParams {
 public:
  WidenedParams(const NetworkShape& shape, cudaStream_t stream)
      : ours_(shape.params()), theirs_(shape.params()), element_(shape.element_bytes()), stream_(stream) {
    ours_.input_size = 0;
  }

  std::size_t bytes() const { return static_cast<std::size_t>(theirs_.size()) * element_; }

  void widen(const void* params, void* wide) const {
    check(cudaMemsetAsync(wide, 0, bytes(), stream_), "cudaMemsetAsync");
    copy(params, ours_, wide, theirs_);
  }

  void narrow(const void* wide, void* params) const { copy(wide, theirs_, params, ours_); }

 private:
  // R of layer 0 in every direction, and all that comes after layer 0, which is the same in both.
  void copy(const void* from, const RnnParams& from_layout, void* to, const RnnParams& to_layout) const {
    const auto copy_piece = [&](std::int64_t from_at, std::int64_t to_at, std::int64_t count) {
      check(cudaMemcpyAsync(static_cast<std::byte*>(to) + bytes_of(to_at),
                            static_cast<const std::byte*>(from) + bytes_of(from_at), bytes_of(count),
                            cudaMemcpyDeviceToDevice, stream_),
            "cudaMemcpyAsync");
    };
    const std::int64_t recurrent = ours_.gates * ours_.hidden_size * ours_.hidden_size;
    for (std::int64_t d = 0; d < ours_.directions; ++d) {
      copy_piece(from_layout.R(0, d, 0), to_layout.R(0, d, 0), recurrent);
    }
    const auto rest = [](const RnnParams& p) { return p.layers > 1 ? p.W(1, 0, 0) : p.matrices(); };
    copy_piece(rest(from_layout), rest(to_layout), ours_.size() - rest(ours_));
  }

  std::size_t bytes_of(std::int64_t count) const { return static_cast<std::size_t>(count) * element_; }

  RnnParams ours_, theirs_;
  std::size_t element_;
  cudaStream_t stream_;
};

// What both passes share.
struct Pass {
  Pass(const backgauge_call& call, const Extents& extents, Workspace& memory)
      : shape(shape_of(call, extents)),
        sizes(checked_sizes(shape)),
        staging(call, memory),
        widened(shape, staging.stream()),
        no_input(extents.I == 0),
        workspace(memory.take_bytes(sizes.workspace)),
        states(memory.take_bytes(sizes.states)),
        x(no_input ? memory.take_bytes(input_bytes()) : staging.input("input")),
        hx(staging.input("input_h")),
        cx(staging.input("input_c")),
        weights(no_input ? memory.take_bytes(widened.bytes()) : staging.input("params")) {}

  std::size_t input_bytes() const { return static_cast<std::size_t>(shape.T * shape.B) * shape.element_bytes(); }

  // Once memory is there.
  Network begin(const backgauge_call& call, bool draw_anew) {
    check(cudnnSetStream(thread_handle(), staging.stream()), "cudnnSetStream");
    if (no_input) {
      check(cudaMemsetAsync(const_cast<void*>(x), 0, input_bytes(), staging.stream()), "cudaMemsetAsync");
      widened.widen(backgauge_find(call.inputs, call.num_inputs, "params")->data, const_cast<void*>(weights));
    }
    return {shape, thread_handle(), {states, dropout_seed(call.attributes), draw_anew}};
  }

  NetworkShape shape;
  NetworkSizes sizes;
  Staging staging;
  WidenedParams widened;
  bool no_input;
  void *workspace, *states;
  const void *x, *hx, *cx, *weights;
};

}  // namespace

std::uint64_t dropout_seed(const backgauge_attributes& attributes) {
  return (static_cast<std::uint64_t>(attributes.seed) << 32) | static_cast<std::uint64_t>(attributes.seed2);
}

std::int64_t reserve_length(const backgauge_call& call, const Extents& extents) {
  if (extents.B == 0) return 0;
  const NetworkShape shape = shape_of(call, extents);
  const std::size_t element = shape.element_bytes();
  return static_cast<std::int64_t>((checked_sizes(shape).reserve + element - 1) / element);
}

void cudnn_rnn_forward(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  if (extents.B == 0) return;  // cuDNN knows no empty batch, and there is nothing to write
  Pass p(call, extents, memory);
  void *y = p.staging.output("output"), *hy = p.staging.output("output_h"), *cy = p.staging.output("output_c"),
       *reserve = p.staging.output("reserve_space");
  if (memory.counts_only()) return;
  const Network n = p.begin(call, true);
  check(cudnnRNNForward(n.handle(), n.rnn(), CUDNN_FWD_MODE_TRAINING, nullptr, n.x(), p.x, n.y(), y, n.h(), p.hx, hy,
                        n.h(), p.cx, cy, p.sizes.weights, p.weights, p.sizes.workspace, p.workspace, p.sizes.reserve,
                        reserve),
        "cudnnRNNForward");
  p.staging.finish();
}

void cudnn_rnn_backprop(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  const backgauge_tensor& params_backprop = *backgauge_find(call.outputs, call.num_outputs, "params_backprop");
  const std::size_t params_bytes =
      static_cast<std::size_t>(extents.params_length) * backgauge_dtype_bytes(params_backprop.dtype);
  if (extents.B == 0) {
    if (memory.counts_only()) return;
    return check(cudaMemsetAsync(params_backprop.data, 0, params_bytes, static_cast<cudaStream_t>(call.stream)),
                 "cudaMemsetAsync");
  }
  Pass p(call, extents, memory);
  const void *y = p.staging.input("output"), *dy = p.staging.input("output_backprop"),
             *dhy = p.staging.input("output_h_backprop"), *dcy = p.staging.input("output_c_backprop");
  void *reserve = p.staging.changed_input("reserve_space"), *dhx = p.staging.output("input_h_backprop"),
       *dcx = p.staging.output("input_c_backprop"),
       *dx = p.no_input ? memory.take_bytes(p.input_bytes()) : p.staging.output("input_backprop"),
       *dw = p.no_input ? memory.take_bytes(p.widened.bytes()) : p.staging.output("params_backprop");
  if (memory.counts_only()) return;
  const Network n = p.begin(call, false);
  // The gradient of the weights is added to what is there.
  check(cudaMemsetAsync(dw, 0, p.sizes.weights, p.staging.stream()), "cudaMemsetAsync");
  check(cudnnRNNBackwardData_v8(n.handle(), n.rnn(), nullptr, n.y(), y, dy, n.x(), dx, n.h(), p.hx, dhy, dhx, n.h(),
                                p.cx, dcy, dcx, p.sizes.weights, p.weights, p.sizes.workspace, p.workspace,
                                p.sizes.reserve, reserve),
        "cudnnRNNBackwardData_v8");
  // In this order, on one reserve_space: the first leaves there what the second reads.
  check(cudnnRNNBackwardWeights_v8(n.handle(), n.rnn(), CUDNN_WGRAD_MODE_ADD, nullptr, n.x(), p.x, n.h(), p.hx, n.y(),
                                   y, p.sizes.weights, dw, p.sizes.workspace, p.workspace, p.sizes.reserve, reserve),
        "cudnnRNNBackwardWeights_v8");
  if (p.no_input) p.widened.narrow(dw, params_backprop.data);
  p.staging.finish();
}

}  // namespace backgauge::cudnn
