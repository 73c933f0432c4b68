// SPDX-License-Identifier: Apache-2.0
#include "perf/contestant.h"

namespace backgauge {

Subject::Subject(const Case& line, int num_threads) : c(line), filled(fill(line)), threads(num_threads) {
  if (!filled.error.empty()) throw std::runtime_error(filled.error);
  if (c.data != DataClass::kGolden) c.checksum = filled.checksum;
}

}  // namespace backgauge
