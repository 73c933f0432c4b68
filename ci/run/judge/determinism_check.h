// SPDX-License-Identifier: Apache-2.0
// The determinism of an implementation, measured on a dozen cases, four of each op.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/determinism.h"
#include "properties/judge/runner/runner.h"
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

// Measures those of `ops` that the implementation claims, as far as calls succeed.
std::vector<OpDeterminism> measure_determinism(Runner& runner, const std::vector<backgauge_op>& ops);

}  // namespace backgauge::cli
