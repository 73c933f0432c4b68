// SPDX-License-Identifier: Apache-2.0
// The forward pass that computes consistent saved tensors: sums in a fixed order over portable functions, with the same
// bits everywhere. reference/semantics.md 1.2 and 2.2. Used only to generate inputs, never to judge.
#pragma once

#include <cstdint>
#include <span>

#include "properties/case/draw/crew.h"

namespace backgauge {

// Column blocks of w and b.
enum class GateOrder { kIcfo, kIfco };

struct ForwardInputs {
  std::int64_t steps, B, I, H;
  GateOrder order;
  double forget_bias;
  double cell_clip;  // <= 0: none
  bool use_peephole;
  const double* x;                 // [steps, B, I]
  const double *cs_prev, *h_prev;  // [B, H]
  const double* w;                 // [I + H, 4 * H]
  const double *wci, *wcf, *wco;   // [H]
  const double* b;                 // [4 * H]
};

// Places for [steps, B, H] each, or for the first elements of it: what does not fit is left out.
struct Saved {
  std::span<double> i, cs, f, o, ci, co, h;
};

// Throws Stopped. Beside its arguments it holds one copy of w, and gates of 128 rows.
void run_forward(const ForwardInputs& in, const Saved& saved, const Crew& crew = Crew());

}  // namespace backgauge
