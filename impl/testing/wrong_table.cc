// SPDX-License-Identifier: Apache-2.0
// A plug-in whose table has no run().
#include "impl/plain/plain.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  static backgauge_implementation table = *backgauge::plain_entry(host);
  table.run = nullptr;
  return &table;
}
