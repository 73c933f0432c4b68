// SPDX-License-Identifier: Apache-2.0
// The determinism of an implementation, measured on a dozen cases, four of each op.
#pragma once

#include <vector>

#include "ci/run/outcome/summary.h"
#include "properties/judge/runner/runner.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cli {

// Measures those of `ops` that the implementation claims, as far as calls succeed.
std::vector<OpDeterminism> measure_determinism(Runner& runner, const std::vector<backgauge_op>& ops);

}  // namespace backgauge::cli
