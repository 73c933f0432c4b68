// SPDX-License-Identifier: Apache-2.0
// The file that `bench --measure=instructions` writes: counts, which other load of the machine does not change.
//   {"schema":"backgauge.counts/1", "context":{...}}                              the first line of the file
//   {"workload", "suite", "implementation", "version", "verdict", "reason", "counter", "instructions":[...],
//   "cycles":[...]}
// One number per sample, each of one call after a first one; "cycles" is empty where nothing counts them. The counter
// is "hardware" or "callgrind", which runs the path of a CPU without AVX-512.
#pragma once

#include <map>
#include <string>

#include "perf/results/results.h"

namespace backgauge {

std::string counts_head(const std::map<std::string, std::string>& context);

// Whole lines.
std::string counts_of(const WorkloadResult& result, const std::string& counter);

// For people: instructions and cycles of each implementation, and how many times those of the first that is.
std::string counts_text(const WorkloadResult& result);

}  // namespace backgauge
