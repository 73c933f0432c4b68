// SPDX-License-Identifier: Apache-2.0
// From the op to its graph.
#include "reference/testing/witness/witness.h"

#include "reference/testing/witness/graph.h"

namespace backgauge {

template <class Scalar>
std::vector<WitnessTensor<Scalar>> witness(const Problem& problem) {
  switch (problem.op) {
    case BACKGAUGE_LSTM_BLOCK_CELL_GRAD: return lstm_block_cell_grad_witness<Scalar>(problem);
    case BACKGAUGE_BLOCK_LSTM_GRAD_V2: return block_lstm_grad_v2_witness<Scalar>(problem);
    case BACKGAUGE_CUDNN_RNN_BACKPROP: return cudnn_rnn_backprop_witness<Scalar>(problem);
    case BACKGAUGE_CUDNN_RNN: return cudnn_rnn_witness<Scalar>(problem);
  }
  return {};
}

template std::vector<WitnessTensor<double>> witness(const Problem&);
template std::vector<WitnessTensor<long double>> witness(const Problem&);

}  // namespace backgauge
