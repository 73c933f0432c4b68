// SPDX-License-Identifier: Apache-2.0
// A C++17 program whose only header is backgauge.h.
#include "reference/contract/header_layout.h"

extern "C" {
extern const size_t backgauge_layout_cxx17[];
const size_t backgauge_layout_cxx17[] = BACKGAUGE_LAYOUT;

int64_t backgauge_elements_cxx17(const backgauge_tensor* tensors, int32_t count, const char* name) {
  const backgauge_tensor* tensor = backgauge_find(tensors, count, name);
  return tensor == nullptr ? -1 : backgauge_elements(tensor);
}

uint16_t backgauge_round_trip_cxx17(uint16_t half) { return backgauge_float_to_half(backgauge_half_to_float(half)); }
}
