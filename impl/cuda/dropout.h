// SPDX-License-Identifier: Apache-2.0
// Kernels that draw dropout masks (impl/dropout_philox.h) and apply them to values and gradients.
#pragma once

#include "impl/cuda/operand.h"
#include "impl/cuda/rnn_trace.h"
#include "impl/dropout_philox.h"

namespace backgauge::cuda {

// The factor of a kept element.
template <class Real>
Real dropout_scale(float dropout) {
  return static_cast<Real>(1 / (1 - static_cast<double>(dropout)));
}

// Draws the mask of a gap for one direction, and applies it to y. A thread computes the elements of one draw.
template <class Storage>
struct DropoutKernel {
  using Real = Compute<Storage>;
  static constexpr int kThreads = 256, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  const Storage* y;    // values
  std::uint8_t* keep;  // 1 where kept
  Operand<Storage> x;
  std::int64_t count;
  std::uint64_t key;
  std::int64_t gap, direction;
  double dropout;
  Real scale;

  static std::int64_t blocks(std::int64_t count) { return blocks_for(count, kThreads * kDropoutDraw); }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const std::int64_t draw = thread.block * kThreads + thread.index, first = draw * kDropoutDraw;
    if (first >= count) return;
    const PhiloxWords words = dropout_words(key, gap, direction, draw);
    BACKGAUGE_UNROLL
    for (int k = 0; k < kDropoutDraw; ++k) {
      if (first + k >= count) break;
      const bool kept = is_kept(words.of[k], dropout);
      Real value[1];
      load_values(y, first + k, value);
      keep[first + k] = kept;
      value[0] = kept ? value[0] * scale : Real{0};
      store_operand(value, x + (first + k));
    }
  }
};

// Applies a mask to the gradients of one direction, which may be those that it writes; or adds them to those.
template <class Real>
struct DropBackKernel {
  static constexpr int kThreads = 256, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  const Real* from;
  Real* gradients;
  const std::uint8_t* keep;
  std::int64_t count;
  Real scale;
  bool added;

  static std::int64_t blocks(std::int64_t count) { return blocks_for(count, kThreads); }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const std::int64_t k = thread.block * kThreads + thread.index;
    if (k >= count) return;
    const Real masked = keep[k] != 0 ? from[k] * scale : 0;
    gradients[k] = added ? gradients[k] + masked : masked;
  }
};

}  // namespace backgauge::cuda
