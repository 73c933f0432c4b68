// SPDX-License-Identifier: Apache-2.0
#include "impl/plain/rnn_net.h"

#include <algorithm>
#include <cstring>

namespace backgauge::plain {
namespace {

// The offset of the matrices of a layer.
std::int64_t matrices_before(const RnnNet& net, std::int64_t layer, std::int64_t direction) {
  std::int64_t offset = 0;
  for (std::int64_t l = 0; l < layer; ++l) offset += net.D * net.gates * net.H * (net.columns(l) + net.H);
  return offset + direction * net.gates * net.H * (net.columns(layer) + net.H);
}

std::int64_t gates_of(std::int32_t rnn_mode) {
  switch (rnn_mode) {
    case BACKGAUGE_RNN_RELU:
    case BACKGAUGE_RNN_TANH: return 1;
    case BACKGAUGE_GRU: return 3;
    case BACKGAUGE_LSTM: return 4;
    default: return 0;
  }
}

bool is_matrix_stack(const backgauge_tensor* tensor) {
  return tensor != nullptr && tensor->rank == 3 && std::all_of(tensor->shape, tensor->shape + 3, [](std::int64_t size) {
           return size >= 0 && size < (std::int64_t{1} << 40);  // so that no sum of two products below overflows
         });
}

}  // namespace

std::int64_t RnnNet::W(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return matrices_before(*this, layer, direction) + gate * H * columns(layer);
}

std::int64_t RnnNet::R(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return W(layer, direction, gates) + gate * H * H;
}

std::int64_t RnnNet::bW(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return matrices_before(*this, L, 0) + ((layer * D + direction) * 2 * gates + gate) * H;
}

std::int64_t RnnNet::bR(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return bW(layer, direction, gates + gate);
}

std::int64_t RnnNet::params_length() const { return bW(L, 0, 0); }

std::int64_t RnnNet::record_rows() const {
  return gates + 1 + (mode == BACKGAUGE_LSTM ? 2 : mode == BACKGAUGE_GRU ? 1 : 0);
}

std::int64_t RnnNet::reserve_length(std::int32_t dtype) const {
  const auto element = static_cast<std::int64_t>(backgauge_dtype_bytes(dtype));
  const std::int64_t real = std::max(element, std::int64_t{sizeof(float)});
  return (trace_length() * real + mask_length() + element - 1) / element;
}

std::optional<RnnNet> rnn_net(const backgauge_call& call, std::string& error) {
  const backgauge_attributes& a = call.attributes;
  const std::int32_t count = call.inputs == nullptr ? 0 : call.num_inputs;
  const backgauge_tensor* input = backgauge_find(call.inputs, count, "input");
  const backgauge_tensor* input_h = backgauge_find(call.inputs, count, "input_h");
  RnnNet net{};
  net.gates = gates_of(a.rnn_mode);
  net.D = a.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
  if (backgauge_dtype_bytes(call.dtype) == 0) {
    error = "dtype: expected one of backgauge_dtype, got " + std::to_string(call.dtype);
  } else if (net.gates == 0) {
    error = "rnn_mode: expected one of backgauge_rnn_mode, got " + std::to_string(a.rnn_mode);
  } else if (!is_matrix_stack(input)) {
    error = "input: expected a tensor [T, B, I] of dimensions below 2^40";
  } else if (!is_matrix_stack(input_h)) {
    error = "input_h: expected a tensor [L * D, B, H] of dimensions below 2^40";
  } else {
    net.mode = static_cast<backgauge_rnn_mode>(a.rnn_mode);
    net.T = input->shape[0];
    net.B = input->shape[1];
    net.I = input->shape[2];
    net.L = input_h->shape[0] / net.D;
    net.H = input_h->shape[2];
    net.skip_input = a.input_mode == BACKGAUGE_SKIP_INPUT || (a.input_mode == BACKGAUGE_AUTO_SELECT && net.I == net.H);
    net.dropout = a.dropout;
    // 16 bytes bound a value and its share of the masks; 2^60 bytes is more than any machine has.
    const double bytes = 16.0 * static_cast<double>(input_h->shape[0]) * static_cast<double>(net.T) *
                         static_cast<double>(net.B) * static_cast<double>(net.record_rows()) *
                         static_cast<double>(net.H);
    if (bytes < 0x1p60) return net;
    error = "reserve_space: expected less than 2^60 bytes to be enough";
  }
  return std::nullopt;
}

template <class Real>
Trace<Real>::Trace(const RnnNet& net)
    : records(static_cast<std::size_t>(net.trace_length())), keep(static_cast<std::size_t>(net.mask_length())) {}

// reserve_space is aligned to its own elements only, so it is copied as bytes.
template <class Real>
Trace<Real> Trace<Real>::load(const RnnNet& net, const backgauge_tensor& reserve_space) {
  Trace trace(net);
  const auto* bytes = static_cast<const unsigned char*>(reserve_space.data);
  const std::size_t record_bytes = trace.records.size() * sizeof(Real);
  if (record_bytes > 0) std::memcpy(trace.records.data(), bytes, record_bytes);
  if (!trace.keep.empty()) std::memcpy(trace.keep.data(), bytes + record_bytes, trace.keep.size());
  return trace;
}

template <class Real>
void Trace<Real>::store(const backgauge_tensor& reserve_space) const {
  auto* bytes = static_cast<unsigned char*>(reserve_space.data);
  const std::size_t record_bytes = records.size() * sizeof(Real);
  const std::size_t all =
      static_cast<std::size_t>(backgauge_elements(&reserve_space)) * backgauge_dtype_bytes(reserve_space.dtype);
  if (all == 0) return;
  if (record_bytes > 0) std::memcpy(bytes, records.data(), record_bytes);
  if (!keep.empty()) std::memcpy(bytes + record_bytes, keep.data(), keep.size());
  std::fill(bytes + record_bytes + keep.size(), bytes + all, static_cast<unsigned char>(0));
}

template <class Real>
std::vector<Real> layer_input(const RnnNet& net, Trace<Real>& trace, std::int64_t layer, std::int64_t direction,
                              const std::vector<Real>& input) {
  if (layer == 0) return input;
  std::vector<Real> x(static_cast<std::size_t>(net.T * net.B * net.D * net.H));
  std::size_t next = 0;
  for (std::int64_t t = 0; t < net.T; ++t) {
    for (std::int64_t b = 0; b < net.B; ++b) {
      for (std::int64_t k = 0; k < net.D * net.H; ++k) {
        const Real* h = trace.row(net, (layer - 1) * net.D + k / net.H, t, b, net.h_row());
        x[next++] = h[k % net.H] * trace.factor(net, layer - 1, direction, t, b, k);
      }
    }
  }
  return x;
}

template struct Trace<float>;
template struct Trace<double>;
template std::vector<float> layer_input(const RnnNet&, Trace<float>&, std::int64_t, std::int64_t,
                                        const std::vector<float>&);
template std::vector<double> layer_input(const RnnNet&, Trace<double>&, std::int64_t, std::int64_t,
                                         const std::vector<double>&);

}  // namespace backgauge::plain
