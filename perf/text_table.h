// SPDX-License-Identifier: Apache-2.0
// What people see of a run: one block a workload, one row an implementation.
#pragma once

#include <string>

#include "perf/bench.h"

namespace backgauge {

// Machine, build, limits.
std::string heading_text(const Machine& machine, const Build& build, const Limits& limits, const BenchOptions& options);

// Ends with a newline. The ratio is time of the first implementation that has one / own time: above 1 is faster.
std::string workload_text(const WorkloadResult& result);

// Pairs timed and not, geometric means of the ratios, disturbed samples, noise.
std::string closing_text(const BenchResult& result);

}  // namespace backgauge
