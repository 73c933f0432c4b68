// SPDX-License-Identifier: Apache-2.0
// Which elements dropout keeps, as a function of the seeds and the element alone. impl/README.md defines it.
#pragma once

#include "impl/cuda/operand.h"
#include "impl/cuda/rnn_trace.h"

namespace backgauge::cuda {

struct PhiloxWords {
  std::uint32_t of[4];
};

// Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
BACKGAUGE_BOTH PhiloxWords philox(std::uint64_t low, std::uint64_t high, std::uint64_t key) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  PhiloxWords c = {{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                    static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53u} * c.of[0], second = std::uint64_t{0xCD9E8D57u} * c.of[2];
    c = {{static_cast<std::uint32_t>(second >> 32) ^ c.of[1] ^ k0, static_cast<std::uint32_t>(second),
          static_cast<std::uint32_t>(first >> 32) ^ c.of[3] ^ k1, static_cast<std::uint32_t>(first)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// semantics.md 3.6: seed above, seed2 below, where a negative seed2 fills the upper half with ones.
inline std::uint64_t dropout_key(std::int64_t seed, std::int64_t seed2) {
  return (static_cast<std::uint64_t>(seed) << 32) | static_cast<std::uint64_t>(seed2);
}

// What an element that is kept is multiplied with.
template <class Real>
Real dropout_scale(float dropout) {
  return static_cast<Real>(1 / (1 - static_cast<double>(dropout)));
}

// Draws the mask of a gap, and sends y through it. A thread takes 4 elements, as many as a draw gives.
template <class Storage>
struct DropoutKernel {
  using Real = Compute<Storage>;
  static constexpr int kThreads = 256, kPhases = 1, kDrawn = 4;
  using Shared = Nothing;
  using Local = Nothing;

  const Storage* y;    // values
  std::uint8_t* keep;  // 1 where kept
  Operand<Storage> x;
  std::int64_t count;
  std::uint64_t key, gap;
  double dropout;
  Real scale;

  static std::int64_t blocks(std::int64_t count) { return blocks_for(count, kThreads * kDrawn); }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const std::int64_t draw = thread.block * kThreads + thread.index, first = draw * kDrawn;
    if (first >= count) return;
    const PhiloxWords words = philox(static_cast<std::uint64_t>(draw), gap, key);
    BACKGAUGE_UNROLL
    for (int k = 0; k < kDrawn; ++k) {
      if (first + k >= count) break;
      const bool kept = static_cast<double>(words.of[k]) * 0x1p-32 >= dropout;  // in [0, 1): 1 drops all
      Real value[1];
      load_values(y, first + k, value);
      keep[first + k] = kept;
      value[0] = kept ? value[0] * scale : Real{0};
      store_operand(value, x + (first + k));
    }
  }
};

// Sends gradients back through a mask, in place.
template <class Real>
struct DropBackKernel {
  static constexpr int kThreads = 256, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  Real* gradients;
  const std::uint8_t* keep;
  std::int64_t count;
  Real scale;

  static std::int64_t blocks(std::int64_t count) { return blocks_for(count, kThreads); }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const std::int64_t k = thread.block * kThreads + thread.index;
    if (k < count) gradients[k] = keep[k] != 0 ? gradients[k] * scale : 0;
  }
};

}  // namespace backgauge::cuda
