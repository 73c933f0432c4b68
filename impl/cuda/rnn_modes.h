// SPDX-License-Identifier: Apache-2.0
// The cell of a mode.
#pragma once

#include "impl/cuda/rnn_cells.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

// body: called with the cell.
template <class Body>
void with_cell(std::int32_t rnn_mode, Body body) {
  switch (rnn_mode) {
    case BACKGAUGE_RNN_RELU: return body(ReluCell{});
    case BACKGAUGE_RNN_TANH: return body(TanhCell{});
    case BACKGAUGE_LSTM: return body(LstmCell{});
    default: return body(GruCell{});
  }
}

}  // namespace backgauge::cuda
