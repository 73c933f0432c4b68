// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad: right in every element, and writes one more after dicfo.
#include <cstring>

#include "impl/testing/wrapped_plain.h"

namespace {

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  const backgauge_status status = backgauge::testing::plain()->run(call, message);
  if (status != BACKGAUGE_OK) return status;
  if (const backgauge_tensor* dicfo = backgauge_find(call->outputs, call->num_outputs, "dicfo")) {
    const std::size_t element = backgauge_dtype_bytes(dicfo->dtype);
    const std::size_t bytes = static_cast<std::size_t>(backgauge_elements(dicfo)) * element;
    if (bytes > 0) std::memset(static_cast<char*>(dicfo->data) + bytes, 0, element);
  }
  return status;
}

}  // namespace

BACKGAUGE_WRAPPED_PLAIN("writes_past_output", run)
