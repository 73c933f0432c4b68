// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/ops/lstm.h"

namespace backgauge::setting_ops {

const Entry kLstmBlockCellGrad{lstm_settings, is_legal_lstm, lstm_needs_evidence, draw_lstm, vary_batch};

}  // namespace backgauge::setting_ops
