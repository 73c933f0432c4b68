// SPDX-License-Identifier: Apache-2.0
// A plug-in that gives no table and says what the machine lacks.
#include "reference/contract/backgauge.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host*) {
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return "no such device"; }
