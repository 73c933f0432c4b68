// SPDX-License-Identifier: Apache-2.0
// The one symbol that the shared library of this implementation exports.
#include "impl/plain/plain.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  return host == nullptr || host->abi != BACKGAUGE_ABI ? nullptr : backgauge::plain_entry(host);
}
