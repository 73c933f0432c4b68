// SPDX-License-Identifier: Apache-2.0
// The layout of reserve_space, which the forward writes for the backward, in the type of the computation:
//   per pseudo-layer  gates [T, B, G*H] after the activation (relu, tanh: of no use to the backward)
//   per layer         y [T, B, D*H], its output before dropout; -0 where relu is closed, so that +0 has the slope 1
//   per pseudo-layer  lstm: cs [T, B, H], then co [T, B, H]; gru: R_n h + bR_n [T, B, H]
// and then, if dropout > 0, per gap between layers and direction above it keep [T, B, D*H], one byte each.
#pragma once

#include <cstdint>
#include <cstring>

#include "impl/cpu/kernels/scalar.h"
#include "impl/cpu/kernels/workspace.h"
#include "impl/cpu/machine/threads.h"
#include "impl/rnn_sizes.h"

namespace backgauge::cpu {

inline RnnSizes rnn_sizes(const Extents& extents, const backgauge_attributes& attributes) {
  const std::int32_t mode = attributes.rnn_mode;
  return {extents, attributes, rnn_gates(mode) + (mode == BACKGAUGE_LSTM ? 2 : mode == BACKGAUGE_GRU ? 1 : 0)};
}

// Elements of reserve_space, or -1 if too many to count.
template <class Storage>
std::int64_t reserve_length(const RnnSizes& n) {
  Workspace count;
  count.take<Compute<Storage>>({n.L, n.D, n.T, n.B, n.H, n.kept + 2});  // more than the masks
  if (!count.countable()) return -1;
  const std::int64_t bytes = n.values() * static_cast<std::int64_t>(sizeof(Compute<Storage>)) + n.masks();
  constexpr std::int64_t kElement = sizeof(Storage);
  return (bytes + kElement - 1) / kElement;
}

// The values lie in reserve_space itself, or, as it is aligned to halves only, for half in the workspace.
template <class Storage, class Byte>
class RnnTrace {
  using T = Compute<Storage>;

 public:
  // reserve_space: of std::byte in the forward, of const std::byte in the backward.
  RnnTrace(const RnnSizes& sizes, Byte* reserve_space, Workspace& workspace) : n(sizes), reserve_(reserve_space) {
    if constexpr (kStoredAsComputed<Storage>) {
      values_ = reinterpret_cast<Value*>(reserve_space);
    } else {
      values_ = workspace.take<T>({n.L, n.D, n.T, n.B, n.H, n.kept + 1});
    }
  }

  using Value = std::conditional_t<std::is_const_v<Byte> && kStoredAsComputed<Storage>, const T, T>;
  using Keep = std::conditional_t<std::is_const_v<Byte>, const std::uint8_t, std::uint8_t>;

  Value* gates(std::int64_t pseudo_layer) const { return values_ + pseudo_layer * n.T * n.step() * n.G; }
  Value* y(std::int64_t layer) const { return values_ + n.G * n.L * n.D * n.T * n.step() + layer * n.gap(); }
  Value* cs(std::int64_t pseudo_layer) const { return extra(0, pseudo_layer); }
  Value* co(std::int64_t pseudo_layer) const { return extra(1, pseudo_layer); }
  Value* hn(std::int64_t pseudo_layer) const { return extra(0, pseudo_layer); }

  // mask: of RnnSizes. nullptr: all is kept.
  Keep* keep(std::int64_t mask) const {
    if (!n.has_masks) return nullptr;
    return reinterpret_cast<Keep*>(reserve_ + value_bytes()) + mask * n.gap();
  }

  // Each member copies its part between reserve_space and the workspace.
  void load(const Member& member) const {
    copy(member, [](T* here, const Byte* there, std::size_t bytes) { std::memcpy(here, there, bytes); });
  }
  void store(const Member& member) const {
    copy(member, [](const T* here, Byte* there, std::size_t bytes) { std::memcpy(there, here, bytes); });
  }
  // The bytes after the masks, which fill up the last element.
  void clear_rest() const {
    const std::size_t used = value_bytes() + static_cast<std::size_t>(n.masks());
    const std::size_t all = static_cast<std::size_t>(reserve_length<Storage>(n)) * sizeof(Storage);
    for (std::size_t k = used; k < all; ++k) reserve_[k] = std::byte{0};
  }

 private:
  Value* extra(std::int64_t which, std::int64_t pseudo_layer) const {
    return values_ + ((n.G + 1 + which) * n.L * n.D + pseudo_layer) * n.T * n.step();
  }
  std::size_t value_bytes() const { return static_cast<std::size_t>(n.values()) * sizeof(T); }

  template <class Copy>
  void copy(const Member& member, Copy one_way) const {
    if constexpr (!kStoredAsComputed<Storage>) {
      const Range part = member.share(n.values());
      const auto size = static_cast<std::size_t>(part.end - part.begin) * sizeof(T);
      if (size > 0) one_way(values_ + part.begin, reserve_ + part.begin * std::int64_t{sizeof(T)}, size);
    }
  }

  const RnnSizes& n;
  Byte* reserve_;
  Value* values_;
};

}  // namespace backgauge::cpu
