// SPDX-License-Identifier: Apache-2.0
// The ops, each for a validated call in host memory. Real is the type of the computation: double for float64, float for
// all others. They throw std::bad_alloc and std::length_error.
#pragma once

#include <cstdint>

#include "reference/contract/backgauge.h"

namespace backgauge::plain {

template <class Real>
void lstm_block_cell_grad(const backgauge_call& call);

template <class Real>
void block_lstm_grad_v2(const backgauge_call& call);

template <class Real>
void cudnn_rnn(const backgauge_call& call);

template <class Real>
void cudnn_rnn_backprop(const backgauge_call& call);

}  // namespace backgauge::plain
