// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad and BlockLSTMGradV2: right in every output but wcf_grad, which is left as it was.
#include <cstdint>
#include <new>
#include <vector>

#include "impl/testing/wrapped_plain.h"

namespace {

// Lets the plain implementation write into other memory instead. A call without wcf_grad, or with one whose size cannot
// be believed, is passed on as it is.
backgauge_status run(const backgauge_call* call, backgauge_message* message) try {
  const auto plain_run = backgauge::testing::plain()->run;
  const bool lstm = call->op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD || call->op == BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  const backgauge_tensor* skipped = lstm ? backgauge_find(call->outputs, call->num_outputs, "wcf_grad") : nullptr;
  constexpr std::int64_t kLargest = std::int64_t{1} << 32;
  if (skipped == nullptr || skipped->data == nullptr || skipped->rank != 1 || skipped->shape[0] < 1 ||
      skipped->shape[0] > kLargest) {
    return plain_run(call, message);
  }
  std::vector<std::uint64_t> elsewhere(static_cast<std::size_t>(skipped->shape[0]));
  std::vector<backgauge_tensor> outputs(call->outputs, call->outputs + call->num_outputs);
  outputs[static_cast<std::size_t>(skipped - call->outputs)].data = elsewhere.data();
  backgauge_call changed = *call;
  changed.outputs = outputs.data();
  return plain_run(&changed, message);
} catch (const std::bad_alloc&) {
  return BACKGAUGE_OUT_OF_MEMORY;
}

}  // namespace

BACKGAUGE_WRAPPED_PLAIN("leaves_output_unwritten", run)
