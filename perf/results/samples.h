// SPDX-License-Identifier: Apache-2.0
// Every sample of a run, in a file next to its JSON: lines of JSON, schema "backgauge.samples/1".
//   {"schema":..., "context":{...}}                                               the first line
//   {"workload", "suite", "implementation", "verdict", "error_over_bound", "tensors":{<name>: ratio}, "reason", ...}
//   {"workload", "suite", "implementation", "version", "round", "seconds", "calls", "fma_gflops", "disturbed",
//    "block", "cpu_seconds", "waits", "instructions", "cycles"}
// A workload is identified by its case line. A pair that did not pass has no samples; one whose verdict is UNJUDGED has
// samples and no error. Numbers that are not finite are null. seconds, cpu_seconds, instructions
// and cycles are per call; waits, of all calls of the sample, is -1 if it is not known.
#pragma once

#include <map>
#include <string>

#include "perf/results/results.h"

namespace backgauge {

std::string samples_head(const std::map<std::string, std::string>& context);

// Whole lines.
std::string samples_of(const WorkloadResult& result);

// "RUN.json" -> "RUN.samples.jsonl"
std::string samples_file_beside(const std::string& json_file);

}  // namespace backgauge
