// SPDX-License-Identifier: Apache-2.0
// Changes one bit of its first output in every fourth run.
#include <atomic>

#include "impl/testing/fake_device.h"

namespace {

void change_a_bit(const backgauge_call& call) {
  static std::atomic<int> runs{0};
  if (++runs % 4 == 0 && call.num_outputs > 0 && backgauge_elements(&call.outputs[0]) > 0)
    *static_cast<char*>(call.outputs[0].data) ^= 1;
}

}  // namespace

BACKGAUGE_PLAIN_ON_FAKE_DEVICE("differs_on_fake_device", change_a_bit)
