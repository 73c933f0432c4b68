/* SPDX-License-Identifier: Apache-2.0
 *
 * backgauge.h as the only header of a C11 program.
 */
#include "reference/contract/header_layout.h"

const size_t backgauge_layout_c11[] = BACKGAUGE_LAYOUT;
const size_t backgauge_layout_c11_count = sizeof backgauge_layout_c11 / sizeof backgauge_layout_c11[0];

int64_t backgauge_elements_c11(const backgauge_tensor* tensors, int32_t count, const char* name) {
  const backgauge_tensor* tensor = backgauge_find(tensors, count, name);
  return tensor == NULL ? -1 : backgauge_elements(tensor);
}

uint16_t backgauge_round_trip_c11(uint16_t half) { return backgauge_float_to_half(backgauge_half_to_float(half)); }
