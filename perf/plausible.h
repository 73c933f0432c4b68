// SPDX-License-Identifier: Apache-2.0
// Times that cannot be: less than the machine's limits allow for the work of a call. Such a number says that something
// else was timed; it is shown, and compared with nothing.
//
// Products: as many multiply-adds in no less time than the multiply-add loop needs, at the best rate that the run has
// seen. Where other units multiply faster than that loop (matrix units for half and float, vectors of half for half),
// nothing is known. Kernels that save multiplications (Strassen) are not in use at such sizes.
//
// Traffic: of n bytes that a call reads or writes once, what all caches up to a level hold at most does not pass the
// next level, the rest does: n - c_1 - ... - c_k bytes through level k + 1. Reads and writes take ways of their own, so
// that a level moves at most what its read and its copy probe move together.
//
// Both limits are measured, and so is how far this run may be off: its noise.
#pragma once

#include <string>

#include "perf/machine.h"
#include "perf/probe.h"
#include "perf/results.h"

namespace backgauge {

// "" or why the median cannot be, with what was measured and what is possible. `fma_gflops` is the best rate of the
// multiply-add loop in the run, `noise` as BenchResult has it.
std::string implausible(const WorkloadResult& workload, const Entry& entry, const Machine& machine,
                        const Limits& limits, double fma_gflops, double noise);

// The least seconds in which so many bytes can be read or written, for so many threads.
double least_seconds(double bytes, const Machine& machine, const Limits& limits, int threads);

}  // namespace backgauge
