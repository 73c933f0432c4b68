// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/ops/lstm.h"

namespace backgauge::draw_ops {

const Entry kBlockLstmGradV2{adapt_lstm, draw_lstm_inputs, lstm_structures};

}  // namespace backgauge::draw_ops
