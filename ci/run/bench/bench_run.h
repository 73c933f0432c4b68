// SPDX-License-Identifier: Apache-2.0
// One run of `backgauge bench`.
#pragma once

#include "ci/run/bench/bench_arguments.h"

namespace backgauge::cli {

// Judges and times, prints the tables, and writes the files of --out and --benchmark_out. Returns the exit code. Throws
// a CommandError, before anything is measured, if an implementation cannot be opened or a file cannot be written.
int run_bench(const BenchArguments& options);

}  // namespace backgauge::cli
