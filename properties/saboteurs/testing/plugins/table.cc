// SPDX-License-Identifier: Apache-2.0
#include "properties/saboteurs/testing/plugins/table.h"

#include "properties/saboteurs/variant.h"

const backgauge_implementation* backgauge_variant_table(const char* id) {
  return backgauge::saboteurs::find_implementation(id);
}
