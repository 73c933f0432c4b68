// SPDX-License-Identifier: Apache-2.0
// A plug-in that gives no table.
#include "reference/contract/backgauge.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host*) {
  return nullptr;
}
