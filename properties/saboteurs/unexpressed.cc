// SPDX-License-Identifier: Apache-2.0
// Rows of the catalogue of known-wrong gradients, or a row for one op ("H1.block"), that no variant expresses, and the
// reason.
#include "properties/saboteurs/variant.h"

namespace backgauge::saboteurs {

const std::vector<Unexpressed>& unexpressed() {
  static const std::vector<Unexpressed> rows = {
      {"A13.cell", "LSTMBlockCellGrad has no bias gradient"},
      {"A26.cell", "LSTMBlockCellGrad reads no pre-activation; the only tanh it could recompute is covered by A25"},
      {"A26.block", "BlockLSTMGradV2 reads no pre-activation; the only tanh it could recompute is covered by A25"},
      {"B5", "every call has all outputs, so none can be left out"},
      {"C5.rnn", "CudnnRNNBackprop has no seq_len_max: all steps count"},
      {"C7.rnn", "T is at least 1"},
      {"C9", "all sequences of a batch have the same length"},
      {"C10", "all sequences of a batch have the same length"},
      {"C12", "all sequences of a batch have the same length"},
      {"D18.rnn", "the matrices of params are square only if I = H; D17, E8 and G11 cover that"},
      {"E21", "the list of tensors alone decides which tensors there are; no flag could contradict it"},
      {"H1.block", "no output of BlockLSTMGradV2 may share memory with an input"},
      {"H2.block", "no output of BlockLSTMGradV2 may share memory with an input"},
      {"H4", "no tensor of a call may be absent"},
      {"H5", "no tensor of a call may be absent"},
      {"H6", "no tensor of a call may be absent"},
      {"H7", "no tensor of a call may be absent"},
      {"H13", "tensors are dense"},
      {"I5", "a mistake in code generated for one instruction set: only a run on that machine can find it"},
      {"I10",
       "a race between streams of a device; G1 covers its wrong values, I15 results that change from call to call"},
      {"I11.rnn", "the same as I11.cell; it does not depend on the op"},
      {"I14", "a mistake of a compiler: only a run of code built with it can find it"},
      {"J1.cell", "LSTMBlockCellGrad has no matrix product"},
      {"J2.cell", "LSTMBlockCellGrad has no matrix product"},
      {"K5", "concerns an op that is not supported; K7 covers wrong sizes"},
      {"K13.cell", "LSTMBlockCellGrad has no seq_len_max"},
      {"K13.rnn", "CudnnRNNBackprop has no seq_len_max"},
      {"L", "faults of the judge itself, covered by the tests of properties/judge"},
  };
  return rows;
}

}  // namespace backgauge::saboteurs
