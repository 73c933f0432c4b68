// SPDX-License-Identifier: Apache-2.0
// Rows of the catalogue of known-wrong gradients, or what they would be for one op ("H1.block"), that no variant
// expresses, and why.
#include "properties/saboteurs/variant.h"

namespace backgauge::saboteurs {

const std::vector<Unexpressed>& unexpressed() {
  static const std::vector<Unexpressed> rows = {
      {"A13.cell", "LSTMBlockCellGrad has no bias gradient"},
      {"A26.cell", "it reads no pre-activation; the tanh that it could recompute is that of A25"},
      {"A26.block", "it reads no pre-activation; the tanh that it could recompute is that of A25"},
      {"B5", "a call asks for all outputs, so none can be left out"},
      {"C5.rnn", "CudnnRNNBackprop has no steps that do not count"},
      {"C7.rnn", "T is at least 1"},
      {"C9", "all sequences of a batch have the same length"},
      {"C10", "all sequences of a batch have the same length"},
      {"C12", "all sequences of a batch have the same length"},
      {"D18.rnn", "no matrix of params has the shape of its transpose unless I = H: there it is D17, E8 and G11"},
      {"E21", "the list of tensors says which there are; there is no flag beside it"},
      {"H1.block", "no output of BlockLSTMGradV2 may share memory with an input"},
      {"H2.block", "no output of BlockLSTMGradV2 may share memory with an input"},
      {"H4", "no tensor of a call may be absent"},
      {"H5", "no tensor of a call may be absent"},
      {"H6", "no tensor of a call may be absent"},
      {"H7", "no tensor of a call may be absent"},
      {"H13", "tensors are dense"},
      {"I5", "a mistake of generated code for one instruction set: it is there that the judge has to run"},
      {"I10",
       "a race between the streams of a device; what it does to values is G1, that they change from call to call I15"},
      {"I11.rnn", "as I11.cell: it does not depend on the op"},
      {"I14", "a mistake of a compiler: the judge has to run with it"},
      {"J1.cell", "LSTMBlockCellGrad has no product of matrices"},
      {"J2.cell", "LSTMBlockCellGrad has no product of matrices"},
      {"K5", "of an op that is not here; its sizes are those of K7"},
      {"K13.cell", "it has no seq_len_max"},
      {"K13.rnn", "it has no seq_len_max"},
      {"L", "faults of the judge itself: the tests of properties/judge"},
  };
  return rows;
}

}  // namespace backgauge::saboteurs
