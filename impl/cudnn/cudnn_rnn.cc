// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/ops.h"
#include "impl/cudnn/passes.h"
#include "impl/cudnn/plans.h"

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

// What both passes share: takes memory, and copies what has to be copied.
struct Pass {
  Pass(const backgauge_call& call, const Extents& extents, const Plan& given, Workspace& memory)
      : plan(given),
        staging(call, plan.sizes.reserve, memory),
        widened(plan.shape, staging.stream()),
        no_input(extents.I == 0),
        workspace(memory.take_bytes(plan.sizes.workspace)),
        x(no_input ? memory.take_bytes(input_bytes()) : staging.input("input")),
        hx(staging.input("input_h")),
        cx(staging.input("input_c")),
        weights(no_input ? memory.take_bytes(widened.bytes()) : staging.input("params")) {}

  std::size_t input_bytes() const {
    return static_cast<std::size_t>(plan.shape.T * plan.shape.B) * plan.shape.element_bytes();
  }

  // Where memory is there.
  void widen_input(const backgauge_call& call) const {
    if (!no_input) return;
    check(cudaMemsetAsync(const_cast<void*>(x), 0, input_bytes(), staging.stream()), "cudaMemsetAsync");
    widened.widen(backgauge_find(call.inputs, call.num_inputs, "params")->data, const_cast<void*>(weights));
  }

  Plan plan;
  Staging staging;
  WidenedParams widened;
  bool no_input;
  void* workspace;
  const void *x, *hx, *cx, *weights;
};

struct ForwardPass : Pass {
  ForwardPass(const backgauge_call& call, const Extents& extents, const Plan& given, Workspace& memory)
      : Pass(call, extents, given, memory),
        outputs{staging.output("output"), staging.output("output_h"), staging.output("output_c")},
        reserve(staging.output("reserve_space")) {}

  ForwardOutputs outputs;
  void* reserve;
};

struct BackwardPass : Pass {
  BackwardPass(const backgauge_call& call, const Extents& extents, const Plan& given, Workspace& memory)
      : Pass(call, extents, given, memory),
        reserve(staging.changed_input("reserve_space")),
        backward{.y = staging.input("output"),
                 .dy = staging.input("output_backprop"),
                 .dhy = staging.input("output_h_backprop"),
                 .dcy = staging.input("output_c_backprop"),
                 .dx = no_input ? memory.take_bytes(input_bytes()) : staging.output("input_backprop"),
                 .dhx = staging.output("input_h_backprop"),
                 .dcx = staging.output("input_c_backprop"),
                 .dw = no_input ? memory.take_bytes(widened.bytes()) : staging.output("params_backprop")} {}

  void* reserve;
  Backward backward;
};

// All that the work of a call depends on.
Session::GraphKey key_of(const backgauge_call& call, const NetworkShape& shape) {
  Session::GraphKey key{shape, {call.workspace}};
  for (std::int32_t k = 0; k < call.num_inputs; ++k) key.addresses.push_back(call.inputs[k].data);
  for (std::int32_t k = 0; k < call.num_outputs; ++k) key.addresses.push_back(call.outputs[k].data);
  return key;
}

}  // namespace

std::uint64_t dropout_seed(const backgauge_attributes& attributes) {
  return (static_cast<std::uint64_t>(attributes.seed) << 32) | static_cast<std::uint64_t>(attributes.seed2);
}

std::int64_t reserve_length(const backgauge_call& call, const Extents& extents) {
  if (extents.B == 0) return 0;
  const Plan plan = plan_of(shape_of(call, extents));
  const std::size_t element = plan.shape.element_bytes();
  return static_cast<std::int64_t>((plan.sizes.reserve + element - 1) / element);
}

void cudnn_rnn_forward(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  if (extents.B == 0) return;  // cuDNN knows no empty batch, and there is nothing to write
  const Plan plan = plan_of(shape_of(call, extents));
  const ForwardPass p(call, extents, plan, memory);
  if (memory.counts_only()) return;
  const Lease lease(p.staging.stream());
  p.widen_input(call);
  Network& network = lease->network(plan.shape);
  network.draw_masks_anew(dropout_seed(call.attributes));
  enqueue_forward(network, plan.sizes, {p.x, p.hx, p.cx, p.weights, p.workspace, p.reserve}, p.outputs);
  p.staging.finish();
}

void cudnn_rnn_backprop(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  const backgauge_tensor& params_backprop = *backgauge_find(call.outputs, call.num_outputs, "params_backprop");
  const auto stream = static_cast<cudaStream_t>(call.stream);
  if (extents.B == 0) {
    const std::size_t bytes =
        static_cast<std::size_t>(extents.params_length) * backgauge_dtype_bytes(params_backprop.dtype);
    if (memory.counts_only()) return;
    return check(cudaMemsetAsync(params_backprop.data, 0, bytes, stream), "cudaMemsetAsync");
  }
  const Plan plan = plan_of(shape_of(call, extents));
  if (memory.counts_only()) {
    const BackwardPass counted(call, extents, plan, memory);
    return;
  }
  const Lease lease(stream);
  const Network& network = lease->network(plan.shape);
  const auto enqueue = [&] {
    const BackwardPass p(call, extents, plan, memory);
    p.widen_input(call);
    enqueue_backward(network, plan.sizes, stream, {p.x, p.hx, p.cx, p.weights, p.workspace, p.reserve}, p.backward);
    if (p.no_input) p.widened.narrow(p.backward.dw, params_backprop.data);
    p.staging.finish();
  };
  if (plan.graph) {
    lease->replay(key_of(call, plan.shape), enqueue);
  } else {
    enqueue();
  }
}

}  // namespace backgauge::cudnn
