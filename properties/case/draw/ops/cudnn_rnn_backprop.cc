// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "properties/case/draw/ops/cudnn.h"

namespace backgauge::draw_ops {
namespace {

void adapt(const Case& c, const RandomStream&, DrawRules& rules) {
  if (c.data == DataProfile::kSaturated) {
    rules.gain = 4;  // its nets also have saturating biases; with 10, their gradients would vanish
    return;
  }
  if (c.rnn_mode == BACKGAUGE_RNN_RELU) return;
  // A recurrence of gain 5 over many steps and layers is chaotic: no bound is meaningful.
  if (c.T * c.layers > 6) rules.gain = std::min(rules.gain, 2.5);
  // Measured on lstm, gru and tanh of width 64 and 256: with a gain of 2.5 the resolution is too low to prove anything
  // from 30 steps on; with 1.2 it is 20 times what is needed in 50 steps of 3 layers.
  if (c.T * c.layers > 24) rules.gain = std::min(rules.gain, 1.2);
}

}  // namespace

const Entry kCudnnRnnBackprop{adapt, draw_cudnn_inputs, cudnn_structures};

}  // namespace backgauge::draw_ops
