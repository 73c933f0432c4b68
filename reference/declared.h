// SPDX-License-Identifier: Apache-2.0
// The properties of an implementation, as it declares them, that change where results are rounded.
// arithmetic/bounds.md 2.
#pragma once

#include "reference/contract/backgauge.h"

namespace backgauge {

struct Declared {
  backgauge_accuracy_class accuracy_class = BACKGAUGE_CLASS_A;
  backgauge_numerical_contract numerical_contract = BACKGAUGE_FP32_STRICT;
  std::int32_t recomputes_co = 0;  // as in backgauge_op_claims: 0, 1 or 2

  bool operator==(const Declared&) const = default;
};

}  // namespace backgauge
