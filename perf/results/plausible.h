// SPDX-License-Identifier: Apache-2.0
// Finds impossible times: shorter than the machine's limits allow for the work of a call. Such a number means that
// something else was timed; it is shown, but not compared with anything.
//
// Products: a call cannot do its multiply-adds faster than the multiply-add loop does at its best rate in the run. This
// limit does not apply if other units multiply faster than that loop (matrix units for half and float, vectors of half
// for half). Kernels that save multiplications (Strassen) are not used at these sizes.
//
// Traffic: of n bytes that a call reads or writes once, at most c_1 + ... + c_k stay in the first k cache levels; the
// rest, n - c_1 - ... - c_k bytes, passes through level k + 1. Reads and writes may overlap, so the rate of a level is
// at most that of its read probe plus that of its copy probe.
//
// Both limits are measured, and so is the noise of this run.
#pragma once

#include <string>

#include "perf/machine/machine.h"
#include "perf/machine/probe.h"
#include "perf/results/results.h"

namespace backgauge {

// "", or why the median is impossible, with the measured and the possible value. `fma_gflops` is the best rate of the
// multiply-add loop in the run, `noise` as BenchResult has it.
std::string implausible(const WorkloadResult& workload, const Entry& entry, const Machine& machine,
                        const Limits& limits, double fma_gflops, double noise);

// Why a time is shorter than its share of the limit allows, where that is above 100 % by more than the noise; "" where
// it is not, or no limit is known. A limit is what a plain loop, or on a device cuBLASLt, reached; few of them are
// rigorous.
std::string above_limit(const WorkloadResult& workload, const Entry& entry, const Machine& machine);

// The shortest time, in seconds, in which `threads` threads can read or write `bytes`; 0 if no cache is known, which
// may have held them.
double least_seconds(double bytes, const Machine& machine, const Limits& limits, int threads);

}  // namespace backgauge
