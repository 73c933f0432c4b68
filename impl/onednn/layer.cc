// SPDX-License-Identifier: Apache-2.0
// oneDNN 2 makes a primitive description from a description of the operation, oneDNN 3 in one step; nothing else
// differs here.
#include "impl/onednn/layer.h"

#include <utility>

namespace backgauge::onednn {
namespace {

using Memory = dnnl::memory;
using Desc = Memory::desc;
using Tag = Memory::format_tag;

#if DNNL_VERSION_MAJOR >= 3
template <class Primitive, class... Args>
auto describe_forward(const dnnl::primitive_attr& attributes, const Args&... args) {
  return typename Primitive::primitive_desc(engine(), args..., attributes);
}
template <class Primitive, class Hint, class... Args>
auto describe_backward(const dnnl::primitive_attr& attributes, const Hint& hint, const Args&... args) {
  return typename Primitive::primitive_desc(engine(), args..., hint, attributes);
}
#else
template <class Primitive, class... Args>
auto describe_forward(const dnnl::primitive_attr& attributes, const Args&... args) {
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), attributes, engine());
}
template <class Primitive, class Hint, class... Args>
auto describe_backward(const dnnl::primitive_attr& attributes, const Hint& hint, const Args&... args) {
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), attributes, engine(), hint);
}
#endif

struct Descs {
  explicit Descs(const LayerShape& s)
      : src_layer({s.T, s.B, s.I}, Memory::data_type::f32, Tag::tnc),
        dst_layer({s.T, s.B, s.D * s.H}, Memory::data_type::f32, Tag::tnc),
        state({1, s.D, s.B, s.H}, Memory::data_type::f32, Tag::ldnc),
        weights_layer({1, s.D, s.I, s.gates(), s.H}, Memory::data_type::f32, Tag::any),
        weights_iter({1, s.D, s.H, s.gates(), s.H}, Memory::data_type::f32, Tag::any),
        bias({1, s.D, s.biases(), s.H}, Memory::data_type::f32, Tag::ldgo) {
    if (s.peephole) peephole = Desc({1, s.D, 3, s.H}, Memory::data_type::f32, Tag::ldgo);
  }
  Desc src_layer, dst_layer, state, weights_layer, weights_iter, bias, peephole;
};

}  // namespace

WeightCopy::WeightCopy(const Desc& from, const Desc& to)
    : from_(from), to_(to), reorder_(dnnl::reorder::primitive_desc(engine(), from, engine(), to)) {}

void WeightCopy::operator()(const void* from, void* to) const {
  dnnl::stream stream(engine());
  Memory source(from_, engine(), const_cast<void*>(from)), target(to_, engine(), to);
  reorder_.execute(stream, source, target);
  stream.wait();
}

Layer::Layer(const LayerShape& s) : shape(s) {
  const Descs d(s);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto training = dnnl::prop_kind::forward_training, backward = dnnl::prop_kind::backward;
  const auto direction =
      s.D == 1 ? dnnl::rnn_direction::unidirectional_left2right : dnnl::rnn_direction::bidirectional_concat;
  const auto keep = [this](const auto& forward_description, const auto& backward_description) {
    descriptions_[0] = forward_description;
    descriptions_[1] = backward_description;
    primitives_[0] = dnnl::primitive(forward_description);
    primitives_[1] = dnnl::primitive(backward_description);
  };
  if (s.mode == BACKGAUGE_LSTM) {
    const auto forward = describe_forward<dnnl::lstm_forward>(attributes, training, direction, d.src_layer, d.state,
                                                              d.state, d.weights_layer, d.weights_iter, d.peephole,
                                                              d.bias, d.dst_layer, d.state, d.state);
    keep(forward, describe_backward<dnnl::lstm_backward>(
                      attributes, forward, backward, direction, d.src_layer, d.state, d.state, d.weights_layer,
                      d.weights_iter, d.peephole, d.bias, d.dst_layer, d.state, d.state, d.src_layer, d.state, d.state,
                      d.weights_layer, d.weights_iter, d.peephole, d.bias, d.dst_layer, d.state, d.state));
  } else if (s.mode == BACKGAUGE_GRU) {
    const auto forward =
        describe_forward<dnnl::lbr_gru_forward>(attributes, training, direction, d.src_layer, d.state, d.weights_layer,
                                                d.weights_iter, d.bias, d.dst_layer, d.state);
    keep(forward, describe_backward<dnnl::lbr_gru_backward>(attributes, forward, backward, direction, d.src_layer,
                                                            d.state, d.weights_layer, d.weights_iter, d.bias,
                                                            d.dst_layer, d.state, d.src_layer, d.state, d.weights_layer,
                                                            d.weights_iter, d.bias, d.dst_layer, d.state));
  } else {
    const auto activation =
        s.mode == BACKGAUGE_RNN_RELU ? dnnl::algorithm::eltwise_relu : dnnl::algorithm::eltwise_tanh;
    const auto forward =
        describe_forward<dnnl::vanilla_rnn_forward>(attributes, training, activation, direction, d.src_layer, d.state,
                                                    d.weights_layer, d.weights_iter, d.bias, d.dst_layer, d.state);
    keep(forward, describe_backward<dnnl::vanilla_rnn_backward>(
                      attributes, forward, backward, activation, direction, d.src_layer, d.state, d.weights_layer,
                      d.weights_iter, d.bias, d.dst_layer, d.state, d.src_layer, d.state, d.weights_layer,
                      d.weights_iter, d.bias, d.dst_layer, d.state));
  }
}

Desc Layer::description(Pass pass, int argument) const {
  return descriptions_[static_cast<int>(pass)].query_md(dnnl::query::exec_arg_md, argument);
}

Desc Layer::users(Side side, const WeightStrides& strides, GateRange gates) const {
  const std::int64_t in = side == Side::kInput ? shape.I : shape.H;
  return Desc({1, shape.D, in, gates.count, shape.H}, Memory::data_type::f32,
              {shape.D * strides.direction, strides.direction, strides.in, strides.gate, strides.unit});
}

namespace {

Desc part(const Desc& weights, const LayerShape& s, Side side, GateRange gates) {
  if (gates.count == s.gates()) return weights;
  return weights.submemory_desc({1, s.D, side == Side::kInput ? s.I : s.H, gates.count, s.H},
                                {0, 0, 0, gates.first, 0});
}

}  // namespace

WeightCopy Layer::weights_in(Pass pass, Side side, const WeightStrides& strides, GateRange gates) const {
  const int argument = side == Side::kInput ? DNNL_ARG_WEIGHTS_LAYER : DNNL_ARG_WEIGHTS_ITER;
  return {users(side, strides, gates), part(description(pass, argument), shape, side, gates)};
}

WeightCopy Layer::gradients_out(Side side, const WeightStrides& strides, GateRange gates) const {
  const int argument = side == Side::kInput ? DNNL_ARG_DIFF_WEIGHTS_LAYER : DNNL_ARG_DIFF_WEIGHTS_ITER;
  return {part(description(Pass::kBackward, argument), shape, side, gates), users(side, strides, gates)};
}

std::size_t Layer::bytes(Pass pass, int argument) const { return description(pass, argument).get_size(); }

void Layer::execute(Pass pass, const Arguments& arguments) const {
  dnnl::stream stream(engine());
  std::unordered_map<int, Memory> memories;
  for (const auto& [argument, data] : arguments) {
    memories.emplace(argument, Memory(description(pass, argument), engine(), const_cast<void*>(data)));
  }
  primitives_[static_cast<int>(pass)].execute(stream, memories);
  stream.wait();
}

}  // namespace backgauge::onednn
