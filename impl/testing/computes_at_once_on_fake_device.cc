// SPDX-License-Identifier: Apache-2.0
// Right, but computes when it is called and not in the order of its stream, so that a graph of the stream lacks it.
#include "impl/testing/fake_device.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  using namespace backgauge::testing;
  return plain_on_fake_device(host, "computes_at_once_on_fake_device", nullptr, Captured::kAtOnce);
}
