// SPDX-License-Identifier: Apache-2.0
// CudnnRNN and CudnnRNNBackprop: a primitive per layer, which takes both directions.
#include <algorithm>
#include <cstring>

#include "impl/onednn/ops.h"
#include "impl/onednn/rnn_layers.h"

namespace backgauge::onednn {
namespace {

// What both passes need in addition to the tensors of the call.
struct Buffers {
  Buffers(const RnnLayers& n, Pass pass, Workspace& memory)
      : input(memory.take_bytes(n.most_bytes(pass, DNNL_ARG_WEIGHTS_LAYER))),
        recurrent(memory.take_bytes(n.most_bytes(pass, DNNL_ARG_WEIGHTS_ITER))),
        scratchpad(memory.take_bytes(n.most_bytes(pass, DNNL_ARG_SCRATCHPAD))),
        workspace(memory.take_bytes(n.most_bytes(pass, DNNL_ARG_WORKSPACE))),
        bias(memory.take<float>({static_cast<std::int64_t>(n.most_bytes(pass, DNNL_ARG_BIAS) / sizeof(float))})),
        zeros(n.drops_all || n.e.I == 0 ? memory.take<float>({n.e.T * n.e.B * std::max<std::int64_t>(n.e.D * n.e.H, 1)})
                                        : nullptr) {}

  void *input, *recurrent, *scratchpad;
  void* workspace;  // replaces that in reserve_space, if that is not aligned
  float *bias, *zeros;
};

bool is_aligned(const void* memory) {
  constexpr std::uintptr_t kLine = 64;  // the widest vector: oneDNN's code is made for workspaces of whole pages
  return reinterpret_cast<std::uintptr_t>(memory) % kLine == 0;
}

void load(const RnnLayers& n, Pass pass, std::int64_t l, const float* params, const Buffers& b) {
  const RnnLayer& layer = *n.layers[static_cast<std::size_t>(l)];
  if (n.params.matrix_input(l) > 0) {
    layer.load_weights(pass, Side::kInput, params, n.params, l, b.input);
  } else {
    std::memset(b.input, 0, layer.bytes(pass, DNNL_ARG_WEIGHTS_LAYER));
  }
  layer.load_weights(pass, Side::kRecurrent, params, n.params, l, b.recurrent);
  layer.load_bias(params, n.params, l, b.bias);
}

// The input of a layer: the input of the call, or the output of the layer below after dropout.
const float* layer_input(const RnnLayers& n, std::int64_t l, const float* input, const std::byte* reserve,
                         const Buffers& b) {
  if (l == 0) return n.e.I == 0 ? b.zeros : input;
  return n.drops_all ? b.zeros : reinterpret_cast<const float*>(reserve + n.output_at(l - 1));
}

void clear(const RnnLayers& n, const Buffers& b) {
  if (b.zeros != nullptr) std::fill_n(b.zeros, n.e.T * n.e.B * std::max<std::int64_t>(n.e.D * n.e.H, 1), 0.0f);
}

}  // namespace

void cudnn_rnn_forward(const CudnnRnnCall<float>& c, Workspace& memory) {
  const ThreadScope threads(c.num_threads);
  const RnnLayers n(c, c.attributes, c.num_threads);
  if (n.is_empty()) return;
  const Buffers b(n, Pass::kForward, memory);
  if (memory.counts_only()) return;
  auto* reserve = reinterpret_cast<std::byte*>(c.reserve_space);
  std::memset(reserve, 0, n.reserve_bytes());  // oneDNN leaves holes, and every element of an output is written
  clear(n, b);
  for (std::int64_t l = 0; l < c.L; ++l) {
    const Layer& layer = n.layers[static_cast<std::size_t>(l)]->layer;
    load(n, Pass::kForward, l, c.params, b);
    std::byte* own = reserve + n.workspace_at(l);
    const std::size_t bytes = layer.bytes(Pass::kForward, DNNL_ARG_WORKSPACE);
    void* workspace = is_aligned(own) ? own : std::memset(b.workspace, 0, bytes);
    const bool last = l + 1 == c.L;
    const std::int64_t at = l * n.step();
    Arguments arguments = {{DNNL_ARG_SRC_LAYER, layer_input(n, l, c.input, reserve, b)},
                           {DNNL_ARG_SRC_ITER, c.input_h + at},
                           {DNNL_ARG_WEIGHTS_LAYER, b.input},
                           {DNNL_ARG_WEIGHTS_ITER, b.recurrent},
                           {DNNL_ARG_BIAS, b.bias},
                           {DNNL_ARG_DST_LAYER, last ? static_cast<void*>(c.output) : reserve + n.output_at(l)},
                           {DNNL_ARG_DST_ITER, c.output_h + at},
                           {DNNL_ARG_WORKSPACE, workspace},
                           {DNNL_ARG_SCRATCHPAD, b.scratchpad}};
    if (c.lstm) {
      arguments.emplace(DNNL_ARG_SRC_ITER_C, c.input_c + at);
      arguments.emplace(DNNL_ARG_DST_ITER_C, c.output_c + at);
    }
    layer.execute(Pass::kForward, arguments);
    if (workspace != own) std::memcpy(own, workspace, bytes);
  }
}

void cudnn_rnn_backprop(const CudnnRnnBackpropCall<float>& c, Workspace& memory) {
  const ThreadScope threads(c.num_threads);
  const RnnLayers n(c, c.attributes, c.num_threads);
  if (n.is_empty()) {
    if (!memory.counts_only()) std::fill_n(c.params_backprop, c.params_length, 0.0f);
    return;
  }
  const Buffers b(n, Pass::kBackward, memory);
  void* input_grad = memory.take_bytes(n.most_bytes(Pass::kBackward, DNNL_ARG_DIFF_WEIGHTS_LAYER));
  void* recurrent_grad = memory.take_bytes(n.most_bytes(Pass::kBackward, DNNL_ARG_DIFF_WEIGHTS_ITER));
  const std::size_t bias_bytes = n.most_bytes(Pass::kBackward, DNNL_ARG_DIFF_BIAS);
  auto* bias_grad = reinterpret_cast<float*>(memory.take_bytes(bias_bytes));
  float* gap_grads[2];  // of the outputs of two layers
  for (float*& grad : gap_grads) grad = memory.take<float>({c.L > 1 ? c.T * n.step() : 0});
  float* no_input_grad = memory.take<float>({c.I == 0 ? c.T * c.B : 0});
  if (memory.counts_only()) return;

  // The claims say that reserve_space is changed: the gradients of the states lie in oneDNN's workspace too.
  auto* reserve = reinterpret_cast<std::byte*>(const_cast<float*>(c.reserve_space));
  clear(n, b);
  const float* dy = c.output_backprop;
  for (std::int64_t l = c.L - 1; l >= 0; --l) {
    const RnnLayer& rnn_layer = *n.layers[static_cast<std::size_t>(l)];
    const Layer& layer = rnn_layer.layer;
    load(n, Pass::kBackward, l, c.params, b);
    std::byte* own = reserve + n.workspace_at(l);
    void* workspace =
        is_aligned(own) ? own : std::memcpy(b.workspace, own, layer.bytes(Pass::kBackward, DNNL_ARG_WORKSPACE));
    std::memset(input_grad, 0, layer.bytes(Pass::kBackward, DNNL_ARG_DIFF_WEIGHTS_LAYER));
    std::memset(recurrent_grad, 0, layer.bytes(Pass::kBackward, DNNL_ARG_DIFF_WEIGHTS_ITER));
    std::memset(bias_grad, 0, bias_bytes);
    const bool last = l + 1 == c.L;
    const std::int64_t at = l * n.step();
    float* dx = l > 0 ? gap_grads[l % 2] : c.I == 0 ? no_input_grad : c.input_backprop;
    Arguments arguments = {{DNNL_ARG_SRC_LAYER, layer_input(n, l, c.input, reserve, b)},
                           {DNNL_ARG_SRC_ITER, c.input_h + at},
                           {DNNL_ARG_WEIGHTS_LAYER, b.input},
                           {DNNL_ARG_WEIGHTS_ITER, b.recurrent},
                           {DNNL_ARG_BIAS, b.bias},
                           {DNNL_ARG_DST_LAYER, last ? static_cast<const void*>(c.output) : reserve + n.output_at(l)},
                           {DNNL_ARG_DST_ITER, c.output_h + at},
                           {DNNL_ARG_WORKSPACE, workspace},
                           {DNNL_ARG_SCRATCHPAD, b.scratchpad},
                           {DNNL_ARG_DIFF_DST_LAYER, dy},
                           {DNNL_ARG_DIFF_DST_ITER, c.output_h_backprop + at},
                           {DNNL_ARG_DIFF_SRC_LAYER, dx},
                           {DNNL_ARG_DIFF_SRC_ITER, c.input_h_backprop + at},
                           {DNNL_ARG_DIFF_WEIGHTS_LAYER, input_grad},
                           {DNNL_ARG_DIFF_WEIGHTS_ITER, recurrent_grad},
                           {DNNL_ARG_DIFF_BIAS, bias_grad}};
    if (c.lstm) {
      arguments.emplace(DNNL_ARG_SRC_ITER_C, c.input_c + at);
      arguments.emplace(DNNL_ARG_DST_ITER_C, c.output_c + at);
      arguments.emplace(DNNL_ARG_DIFF_DST_ITER_C, c.output_c_backprop + at);
      arguments.emplace(DNNL_ARG_DIFF_SRC_ITER_C, c.input_c_backprop + at);
    }
    layer.execute(Pass::kBackward, arguments);
    if (n.params.matrix_input(l) > 0) {
      rnn_layer.store_gradients(Side::kInput, input_grad, n.params, l, c.params_backprop);
    }
    rnn_layer.store_gradients(Side::kRecurrent, recurrent_grad, n.params, l, c.params_backprop);
    rnn_layer.store_bias_gradient(bias_grad, n.params, l, c.params_backprop);
    if (l > 0 && n.drops_all) std::fill_n(dx, c.T * n.step(), 0.0f);
    dy = dx;
  }
}

std::int64_t reserve_length(const Extents& extents, const backgauge_attributes& attributes, int num_threads) {
  const ThreadScope threads(num_threads);
  return static_cast<std::int64_t>(RnnLayers(extents, attributes, num_threads).reserve_bytes() / sizeof(float));
}

}  // namespace backgauge::onednn
