// SPDX-License-Identifier: Apache-2.0
// The one symbol that the plug-in of a correct variant, BACKGAUGE_VARIANT, exports.
#include "properties/saboteurs/testing/plugins/table.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  return host == nullptr || host->abi != BACKGAUGE_ABI ? nullptr : backgauge_variant_table(BACKGAUGE_VARIANT);
}
