// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ops/traffic.h"

namespace backgauge {

double minimal_bytes(const Case& c, const Extents& e) {
  const auto rows_read = [&e](const TensorSpec& input) {
    return input.is_int64 || input.name == "reserve_space" ? 0 : input.rows(e);
  };
  const OpSpec& op = spec_of(c.op);
  return (elements(op.inputs, e, rows_read) + elements(op.outputs, e, all_rows)) * bytes_of_an_element(c);
}

}  // namespace backgauge
