// SPDX-License-Identifier: Apache-2.0
#include "perf/run/contestant.h"

#include <stdexcept>

#include "properties/case/draw/inputs.h"

namespace backgauge {

WorkloadInputs::WorkloadInputs(const Case& line, const LoadOptions& load)
    : c(line), filled(fill(line)), expected(filled.facts), options(load) {
  if (!filled.error.empty()) throw std::runtime_error(filled.error);
  if (c.data != DataProfile::kGolden) c.checksum = filled.checksum;
}

}  // namespace backgauge
