// SPDX-License-Identifier: Apache-2.0
// The values of rnn_mode that a campaign goes through.
#pragma once

#include <array>

#include "reference/contract/backgauge.h"

namespace backgauge {

// In the order of the enumeration.
inline constexpr std::array kModes = {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU};

}  // namespace backgauge
