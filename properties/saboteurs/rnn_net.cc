// SPDX-License-Identifier: Apache-2.0
#include "properties/saboteurs/rnn_net.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "properties/saboteurs/rnn_overruns.h"

namespace backgauge::saboteurs {
namespace {

// Rows of a record. The same for all modes without a cell state, because Extents does not distinguish them.
std::int64_t record_rows(bool lstm) { return lstm ? 7 : 5; }

// Offsets for a layout with all layers of one direction before those of the other. All directions of a layer have the
// same size.
GateBlock by_direction(const RnnParams& p, std::int64_t layer, std::int64_t direction, std::int64_t gate) {
  const std::int64_t first = p.W(layer, 0, 0), start = (direction * p.matrices() + first) / p.directions;
  const std::int64_t biases = p.matrices() + ((direction * p.layers + layer) * 2 * p.gates + gate) * p.hidden_size;
  return {.W = start + p.W(layer, 0, gate) - first,
          .R = start + p.R(layer, 0, gate) - first,
          .bW = biases,
          .bR = biases + p.gates * p.hidden_size};
}

// Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014; in [0, 1).
double uniform(std::uint64_t key, std::uint64_t counter) {
  std::uint64_t z = key * 0x9e3779b97f4a7c15u + (counter + 1) * 0xd1342543de82ef95u;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
  }
  return static_cast<double>(z >> 11) * 0x1p-53;
}

bool draws_masks_for_each(const Variant& variant) {
  return variant.style.declared.masks_per_direction || variant.fault == Fault::kG28;
}

}  // namespace

RnnNet::RnnNet(const Context& context)
    : variant(&context.variant),
      mode(static_cast<backgauge_rnn_mode>(context.call.attributes.rnn_mode)),
      lstm(mode == BACKGAUGE_LSTM),
      gru(mode == BACKGAUGE_GRU),
      T(context.extents.T),
      B(context.extents.B),
      I(context.extents.I),
      H(context.extents.H),
      L(context.extents.L),
      D(context.extents.D),
      G(rnn_gates(mode)),
      masks(draws_masks_for_each(context.variant) ? D : 1),
      dropout(static_cast<double>(context.call.attributes.dropout)),
      layout(rnn_params(context.call.attributes, I, H, L)) {}

GateBlock RnnNet::block(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  return {.W = layout.W(layer, direction, gate),
          .R = layout.R(layer, direction, gate),
          .bW = layout.bW(layer, direction, gate),
          .bR = layout.bR(layer, direction, gate)};
}

GateBlock RnnNet::block_of_gradient(std::int64_t layer, std::int64_t direction, std::int64_t gate) const {
  if (is(Fault::kG5)) return by_direction(layout, layer, direction, gate);
  GateBlock at = block(layer, direction, gate);
  if (is(Fault::kF7) && G == 1) {
    RnnParams wider = layout;
    wider.gates = 4;
    // Offsets past the end wrap around to the front.
    const std::int64_t last = layout.matrices() - H * std::max(layout.matrix_input(layer), H);
    at.W = wider.W(layer, direction, 0) % (last + 1);
    at.R = wider.R(layer, direction, 0) % (last + 1);
  }
  if (is(Fault::kG11) && layout.matrix_input(layer) == H) std::swap(at.W, at.R);
  std::int64_t bias_layer = layer, bias_gate = gate;
  if (is(Fault::kG10) && layer > 0) --bias_layer;
  if (is(Fault::kE10) && gru && gate < 2) bias_gate = 1 - gate;
  at.bW = layout.bW(bias_layer, direction, bias_gate);
  at.bR = layout.bR(bias_layer, direction, bias_gate);
  if (is(Fault::kE19) && gru) {
    at.bW -= layer * H;
    at.bR -= layer * H;
  }
  return at;
}

std::uint64_t dropout_key(const backgauge_attributes& attributes) {
  return (static_cast<std::uint64_t>(attributes.seed) << 32) | static_cast<std::uint64_t>(attributes.seed2);
}

template <class Real>
Trace<Real>::Trace(const RnnNet& net)
    : net_(net),
      rows_(record_rows(net.lstm)),
      records_(static_cast<std::size_t>(net.L * net.D * net.T * net.B * rows_ * net.H)),
      keep_(static_cast<std::size_t>((net.L - 1) * net.masks * net.gap_elements()), std::uint8_t{1}) {}

// reserve_space is aligned to its own elements only, so it is copied as bytes.
template <class Real>
void Trace<Real>::load(const backgauge_tensor& reserve_space) {
  const auto* bytes = static_cast<const std::byte*>(reserve_space.data);
  const std::size_t record_bytes = records_.size() * sizeof(Real);
  if (record_bytes > 0) std::memcpy(records_.data(), bytes, record_bytes);
  if (!keep_.empty()) std::memcpy(keep_.data(), bytes + record_bytes, keep_.size());
}

template <class Real>
void Trace<Real>::store(const backgauge_tensor& reserve_space) const {
  auto* bytes = static_cast<std::byte*>(reserve_space.data);
  const std::size_t record_bytes = records_.size() * sizeof(Real), used = record_bytes + keep_.size();
  const std::size_t all =
      static_cast<std::size_t>(backgauge_elements(&reserve_space)) * backgauge_dtype_bytes(reserve_space.dtype);
  if (all == 0) return;
  if (record_bytes > 0) std::memcpy(bytes, records_.data(), record_bytes);
  if (!keep_.empty()) std::memcpy(bytes + record_bytes, keep_.data(), keep_.size());
  std::fill(bytes + used, bytes + all, std::byte{0});
}

template <class Real>
void Trace<Real>::draw_masks(std::uint64_t key) {
  for (std::size_t k = 0; k < keep_.size(); ++k) keep_[k] = uniform(key, k) >= net_.dropout ? 1 : 0;
}

template <class Real>
Real Trace<Real>::factor(std::int64_t mask, std::int64_t row, std::int64_t k) const {
  if (net_.dropout == 0) return 1;
  const bool kept = keeps(mask, row, k);
  if (net_.is(Fault::kG22) && net_.dropout == 1) return std::numeric_limits<Real>::quiet_NaN();
  const double dropout = net_.is(Fault::kG29) ? std::round(256 * net_.dropout) / 256 : net_.dropout;
  return kept ? static_cast<Real>(1 / (1 - dropout)) : Real(0);
}

template class Trace<float>;
template class Trace<double>;

std::int64_t reserve_length(const Variant& variant, const Extents& extents, std::int32_t dtype) {
  const std::int64_t T = extents.T, B = extents.B, H = extents.H, L = extents.L, D = extents.D;
  const std::int64_t real = dtype == BACKGAUGE_FLOAT64 || variant.style.wide ? sizeof(double) : sizeof(float);
  const auto element = static_cast<std::int64_t>(backgauge_dtype_bytes(dtype));
  const double estimate = static_cast<double>(L * D * H) * static_cast<double>(T * B) * 64;
  if (estimate > 0x1p60) return std::int64_t{1} << 60;  // more than any machine has
  const std::int64_t states = L * D * T * B * H, masks = draws_masks_for_each(variant) ? D : 1;
  return (states * record_rows(extents.lstm) * real + masks * (states - T * B * D * H) + element - 1) / element;
}

std::uint64_t workspace_bytes(const Variant& variant, const Extents& extents) {
  return variant.fault == Fault::kH19 ? workspace_of_one_direction(extents) : 0;
}

}  // namespace backgauge::saboteurs
