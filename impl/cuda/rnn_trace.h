// SPDX-License-Identifier: Apache-2.0
// The layout of reserve_space, which the forward writes for the backward, in the type of the computation:
//   per pseudo-layer  [T, B, kept, H]: what its cell keeps (rnn_cells.h)
//   per layer         y [T, B, D*H], its output before dropout
// and then, if dropout > 0, per gap between layers and direction above it keep [T, B, D*H], one byte each, filled up to
// a whole value. The backward only reads it. It is the same of half tensors and of floats.
#pragma once

#include <cstdint>
#include <cstring>

#include "impl/cuda/device/kernel.h"
#include "impl/cuda/rnn_cells.h"
#include "impl/cuda/workspace.h"
#include "impl/rnn_sizes.h"

namespace backgauge::cuda {

inline RnnSizes rnn_sizes(const Extents& extents, const backgauge_attributes& attributes) {
  const std::int32_t mode = attributes.rnn_mode;
  return {extents, attributes, mode == BACKGAUGE_LSTM ? LstmCell::kKept : mode == BACKGAUGE_GRU ? GruCell::kKept : 0};
}

// Elements of Storage that a value takes.
template <class Storage>
inline constexpr std::int64_t kParts = sizeof(Compute<Storage>) / sizeof(Storage);

// Elements of reserve_space, or -1 if too many to count.
template <class Storage>
std::int64_t reserve_length(const RnnSizes& n) {
  Workspace count;
  count.take<Compute<Storage>>({n.L, n.D, n.T, n.B, n.H, n.kept + 2});  // more than the masks
  if (!count.countable()) return -1;
  constexpr std::int64_t kValue = sizeof(Compute<Storage>);
  return (n.values() + (n.masks() + kValue - 1) / kValue) * kParts<Storage>;
}

// `count` neighbours from value `k` on. One alone lies wherever an element of Storage may lie.
template <int count, class Storage>
BACKGAUGE_BOTH void load_values(const Storage* values, std::int64_t k, Compute<Storage> (&to)[count]) {
  const Storage* const from = values + k * kParts<Storage>;
  if constexpr (count > 1 || std::is_same_v<Storage, Compute<Storage>>) {
    load_each(reinterpret_cast<const Compute<Storage>*>(from), to);
  } else {
    const std::uint32_t bits = static_cast<std::uint32_t>(from[1].bits) << 16 | from[0].bits;
    memcpy(&to[0], &bits, sizeof bits);
  }
}

template <int count, class Storage>
BACKGAUGE_BOTH void store_values(const Compute<Storage> (&from)[count], Storage* values, std::int64_t k) {
  Storage* const to = values + k * kParts<Storage>;
  if constexpr (count > 1 || std::is_same_v<Storage, Compute<Storage>>) {
    store_each(from, reinterpret_cast<Compute<Storage>*>(to));
  } else {
    std::uint32_t bits = 0;
    memcpy(&bits, &from[0], sizeof bits);
    to[0].bits = static_cast<std::uint16_t>(bits & 0xffff);
    to[1].bits = static_cast<std::uint16_t>(bits >> 16);
  }
}

// Addresses are those of values, for load_values() and store_values().
template <class Element>
class RnnTrace {
  using Storage = std::remove_const_t<Element>;
  using Keep = std::conditional_t<std::is_const_v<Element>, const std::uint8_t, std::uint8_t>;

 public:
  // Element: Storage in the forward, const Storage in the backward.
  RnnTrace(const RnnSizes& sizes, Element* reserve_space) : n(sizes), reserve_(reserve_space) {}

  Element* kept(std::int64_t pseudo_layer, std::int64_t t) const {
    return at((pseudo_layer * n.T + t) * n.B * n.kept * n.H);
  }
  Element* y(std::int64_t layer) const { return at(n.L * n.gap() * n.kept + layer * n.gap()); }
  Element* y(std::int64_t layer, std::int64_t direction, std::int64_t t) const {
    return y(layer) + (t * n.B * n.width() + direction * n.H) * kParts<Storage>;
  }

  // mask: of RnnSizes. nullptr: all is kept.
  Keep* keep(std::int64_t mask) const {
    return n.has_masks ? reinterpret_cast<Keep*>(at(n.values())) + mask * n.gap() : nullptr;
  }

 private:
  Element* at(std::int64_t value) const { return reserve_ + value * kParts<Storage>; }

  const RnnSizes n;
  Element* reserve_;
};

}  // namespace backgauge::cuda
