// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/cost_model.h"

#include "perf/workload/ops/entry.h"
#include "perf/workload/ops/traffic.h"

namespace backgauge {
namespace {

// With so many bytes for each element of an input and of an output.
double memory(const Case& c, double of_input, double of_output) {
  const Extents e = extents_of(c);
  const OpSpec& op = spec_of(c.op);
  return of_input * elements(op.inputs, e, all_rows) + of_output * elements(op.outputs, e, all_rows);
}

}  // namespace

Work work_of(const Case& c) { return workload_ops::entry_of(c.op).work(c, extents_of(c)); }

double memory_of_a_launch(const Case& c) {
  const double stored = bytes_of_an_element(c);
  return memory(c, sizeof(double) + stored, stored);
}

double memory_of_a_judged_case(const Case& c) {
  constexpr double kWanted = 24;
  const double judged = sizeof(double) + 2 * bytes_of_an_element(c);
  return memory(c, judged, judged + kWanted);
}

}  // namespace backgauge
