// SPDX-License-Identifier: Apache-2.0
// What a time is worth nothing without, as words: the context of every file that a run writes.
#pragma once

#include <map>
#include <string>

#include "perf/bench.h"

namespace backgauge {

std::map<std::string, std::string> context_of(const Machine& machine, const Build& build, const Limits& limits,
                                              const BenchOptions& options, const BenchResult& result);

}  // namespace backgauge
