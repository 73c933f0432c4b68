// SPDX-License-Identifier: Apache-2.0
// From the dtype of a call to the type of its elements.
#pragma once

#include "reference/contract/narrow.h"

namespace backgauge {

// body: called with a value of the storage type of a dtype.
template <class Body>
auto with_storage(std::int32_t dtype, Body body) {
  switch (dtype) {
    case BACKGAUGE_HALF: return body(Half{});
    case BACKGAUGE_BFLOAT16: return body(Bfloat16{});
    case BACKGAUGE_FLOAT32: return body(float{});
    default: return body(double{});
  }
}

}  // namespace backgauge
