// SPDX-License-Identifier: Apache-2.0
// The entry that makes a shared library of this implementation a plug-in.
#include "impl/plain/plain.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  return host == nullptr || host->abi != BACKGAUGE_ABI ? nullptr : backgauge::plain_entry(host);
}
