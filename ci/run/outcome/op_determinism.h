// SPDX-License-Identifier: Apache-2.0
// The determinism of an implementation of one op: what it claims, and what was measured (determinism_check.h).
#pragma once

#include <string>

#include "properties/judge/determinism.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cli {

struct OpDeterminism {
  backgauge_op op;
  backgauge_determinism claimed;
  Determinism measured = Determinism::kBitwise;  // the lowest level over its cases
  std::string difference;                        // the difference that decided, with its case line; "" if bitwise
  int cases = 0, runs = 0;

  bool overclaimed() const { return overclaims(claimed, measured); }
  std::string text() const;  // one line, and a second one if not bitwise
};

}  // namespace backgauge::cli
