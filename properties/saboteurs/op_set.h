// SPDX-License-Identifier: Apache-2.0
// The ops that a row of a table of saboteurs applies to.
#pragma once

#include <cstdint>
#include <utility>

#include "reference/contract/backgauge.h"

namespace backgauge::saboteurs {

enum Ops : std::uint32_t { CELL = 1, BLOCK = 2, RNN = 4 };
inline constexpr std::pair<Ops, backgauge_op> kOps[] = {
    {CELL, BACKGAUGE_LSTM_BLOCK_CELL_GRAD}, {BLOCK, BACKGAUGE_BLOCK_LSTM_GRAD_V2}, {RNN, BACKGAUGE_CUDNN_RNN_BACKPROP}};

}  // namespace backgauge::saboteurs
