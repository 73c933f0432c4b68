// SPDX-License-Identifier: Apache-2.0
// A run as text for the screen: one block per workload, one row per implementation.
#pragma once

#include <string>

#include "perf/machine/probe.h"
#include "perf/results/bench_options.h"
#include "perf/results/results.h"

namespace backgauge {

// Machine, build, limits.
std::string heading_text(const Machine& machine, const Build& build, const Limits& limits, const BenchOptions& options);

// Ends with a newline. The ratio is time of the first implementation that has one / own time: above 1 is faster.
std::string workload_text(const WorkloadResult& result);

// Instructions and cycles of each implementation, and how many times those of the first that is.
std::string counts_text(const WorkloadResult& result);

// Numbers of timed pairs, geometric means of the ratios, disturbed samples, noise.
std::string closing_text(const BenchResult& result);

}  // namespace backgauge
