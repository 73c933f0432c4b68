// SPDX-License-Identifier: Apache-2.0
// Products with the weights of an LSTM, in which inputs of sequences spend most of their time. Weights are packed into
// panels: four units with their four gates, one row of weights after the other.
#pragma once

#include <cstdint>

namespace backgauge {

inline constexpr std::int64_t kPanelUnits = 4, kPanelColumns = 4 * kPanelUnits;

// sums[rows, kPanelColumns] += in[rows, depth] panel[depth, kPanelColumns], each element as a sum in the order of the
// depth, and without fused multiply-add: the same bits in vectors of any length. Rows of `in` are `in_stride`
// apart; the others are contiguous.
struct PanelProduct {
  const double* in;
  std::int64_t in_stride;
  const double* panel;
  std::int64_t rows, depth;
  double* sums;
};
void add_panel_product(const PanelProduct& product);

}  // namespace backgauge
