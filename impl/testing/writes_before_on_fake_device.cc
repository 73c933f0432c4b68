// SPDX-License-Identifier: Apache-2.0
// Writes one byte before the memory of its first output, where a device has no guard page.
#include "impl/testing/fake_device.h"

namespace {

void write_before(const backgauge_call& call) {
  if (call.num_outputs > 0 && backgauge_elements(&call.outputs[0]) > 0)
    static_cast<char*>(call.outputs[0].data)[-1] = 0;
}

}  // namespace

BACKGAUGE_PLAIN_ON_FAKE_DEVICE("writes_before_on_fake_device", write_before)
