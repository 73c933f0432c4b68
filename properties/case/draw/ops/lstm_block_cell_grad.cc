// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/ops/lstm.h"

namespace backgauge::draw_ops {

const Entry kLstmBlockCellGrad{adapt_lstm, draw_lstm_inputs, lstm_structures};

}  // namespace backgauge::draw_ops
