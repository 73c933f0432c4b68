// SPDX-License-Identifier: Apache-2.0
// The context needed to interpret a timing, as text: every file that a run writes contains it.
#pragma once

#include <map>
#include <string>

#include "perf/machine/probe.h"
#include "perf/results/bench_options.h"
#include "perf/results/results.h"

namespace backgauge {

std::map<std::string, std::string> context_of(const Machine& machine, const Build& build, const Limits& limits,
                                              const BenchOptions& options, const BenchResult& result);

}  // namespace backgauge
