// SPDX-License-Identifier: Apache-2.0
// What makes a plug-in of one correct variant, BACKGAUGE_VARIANT: the one symbol it exports.
#include "properties/saboteurs/plugins/table.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  return host == nullptr || host->abi != BACKGAUGE_ABI ? nullptr : backgauge_variant_table(BACKGAUGE_VARIANT);
}
