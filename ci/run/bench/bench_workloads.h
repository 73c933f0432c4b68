// SPDX-License-Identifier: Apache-2.0
// The workloads that `backgauge bench` was asked for.
#pragma once

#include <vector>

#include "ci/run/bench/bench_arguments.h"
#include "perf/workload/workloads.h"

namespace backgauge::cli {

// The workloads of --case and --suite, with the numbers of --T, --B, --I, --H and --dtype in place of their own,
// without repetitions and without those that --benchmark_filter excludes. Throws a CommandError if an option is wrong
// or no workload is left.
std::vector<Workload> chosen_workloads(const BenchArguments& options);

}  // namespace backgauge::cli
