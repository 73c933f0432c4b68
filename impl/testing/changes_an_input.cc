// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad and BlockLSTMGradV2: right in every output, and then changes the first element of h_grad.
#include "impl/testing/wrapped_plain.h"

namespace {

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  const backgauge_status status = backgauge::testing::plain()->run(call, message);
  if (status != BACKGAUGE_OK) return status;
  const backgauge_tensor* h_grad = backgauge_find(call->inputs, call->num_inputs, "h_grad");
  if (h_grad != nullptr && backgauge_elements(h_grad) > 0) *static_cast<unsigned char*>(h_grad->data) ^= 1u;
  return status;
}

}  // namespace

BACKGAUGE_WRAPPED_PLAIN("changes_an_input", run)
