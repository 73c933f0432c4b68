// SPDX-License-Identifier: Apache-2.0
// The files of JSON lines that a run writes, whole lines each. Numbers that are not finite are null.
//
// Every sample, in a file next to the run's JSON: schema "backgauge.samples/1".
//   {"schema":..., "context":{..., "terms/IMPLEMENTATION/OP":"accuracy class A; ..."}}   the first line
//   {"workload", "suite", "implementation", "verdict", "error_over_bound", "tensors":{<name>: ratio}, "reason", ...}
//   {"workload", "suite", "implementation", "version", "round", "seconds", "calls", "fma_gflops", "disturbed",
//    "block", "cpu_seconds", "waits", "instructions", "cycles"}
// A workload is identified by its case line. A pair that did not pass has no samples; one whose verdict is UNJUDGED has
// samples and no error. seconds, cpu_seconds, instructions and cycles are per call; waits, of all calls of the sample,
// is -1 if it is not known.
//
// What `bench --measure=instructions` writes: counts, which other load of the machine does not change.
//   {"schema":"backgauge.counts/1", "context":{...}}                              the first line
//   {"workload", "suite", "implementation", "version", "verdict", "reason", "counter", "instructions":[...],
//   "cycles":[...]}
// One number per sample, each of one call after a first one; "cycles" is empty where nothing counts them. The counter
// is "hardware" or "callgrind", which runs the path of a CPU without AVX-512.
#pragma once

#include <map>
#include <string>

#include "perf/results/results.h"

namespace backgauge {

std::string samples_head(const std::map<std::string, std::string>& context);
std::string samples_of(const WorkloadResult& result);

std::string counts_head(const std::map<std::string, std::string>& context);
std::string counts_of(const WorkloadResult& result, const std::string& counter);

// "RUN.json" -> "RUN.samples.jsonl"
std::string samples_file_beside(const std::string& json_file);

}  // namespace backgauge
