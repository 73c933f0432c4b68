// SPDX-License-Identifier: Apache-2.0
// The forward pass that computes consistent saved tensors: plain loops in a fixed order over portable functions, with
// the same bits everywhere. reference/semantics.md 1.2 and 2.2. Used only to generate inputs, never to judge.
#pragma once

#include <cstdint>
#include <vector>

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

// [steps, B, H] each.
struct Saved {
  std::vector<double> i, cs, f, o, ci, co, h;
};
Saved run_forward(const ForwardInputs& in);

}  // namespace backgauge
