// SPDX-License-Identifier: Apache-2.0
// The limits of this machine, measured at the start of a run. Shares of a limit refer to them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "perf/machine/device_probe.h"
#include "perf/machine/machine.h"
#include "reference/contract/backgauge.h"

namespace backgauge {

// GB/s for data that each level holds; 0 if the level does not exist. A copy counts bytes read and bytes written.
struct Bandwidth {
  double l1 = 0, l2 = 0, l3 = 0, memory = 0;

  // The bandwidth of the level that holds `bytes`, divided among `threads`.
  double at(double bytes, const Machine& machine, int threads) const;
};

// Of the CPU, all threads together; 0: not measured, as where nothing is timed on it. And of the device, where
// something is timed in its memory.
struct Limits {
  double fma_f32 = 0, fma_f64 = 0;  // GFLOP/s
  Bandwidth read{}, copy{};
  std::optional<DeviceLimits> device{};

  double fma(backgauge_dtype dtype) const { return dtype == BACKGAUGE_FLOAT64 ? fma_f64 : fma_f32; }
};

// The best of several short trials each; about a third of a second in all.
Limits probe_limits(const Machine& machine, int threads);

// One trial: GFLOP/s of multiply-adds in registers, in float64 or (also for half) float32.
double fma_rate(backgauge_dtype dtype, int threads, std::chrono::microseconds duration);

}  // namespace backgauge
