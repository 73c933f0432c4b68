// SPDX-License-Identifier: Apache-2.0
// The limits of this machine, measured at the start of a run: what shares of a limit are shares of.
#pragma once

#include <chrono>
#include <cstddef>

#include "perf/machine.h"
#include "reference/contract/backgauge.h"

namespace backgauge {

// GB/s of data that each level holds; 0 where there is no such level. A copy counts what is read and what is written.
struct Bandwidth {
  double l1 = 0, l2 = 0, l3 = 0, memory = 0;

  // Of the level that holds `bytes` for each of `threads`.
  double at(double bytes, const Machine& machine, int threads) const;
};

// Of all threads together.
struct Limits {
  double fma_f32 = 0, fma_f64 = 0;  // GFLOP/s
  Bandwidth read, copy;

  double fma(backgauge_dtype dtype) const { return dtype == BACKGAUGE_FLOAT64 ? fma_f64 : fma_f32; }
};

// The best of several short trials each; about a third of a second in all.
Limits probe_limits(const Machine& machine, int threads);

// One trial: GFLOP/s of multiply-adds in registers, in float64 or (also for half) float32.
double fma_rate(backgauge_dtype dtype, int threads, std::chrono::microseconds duration);

}  // namespace backgauge
