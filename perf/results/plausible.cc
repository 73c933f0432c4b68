// SPDX-License-Identifier: Apache-2.0
#include "perf/results/plausible.h"

#include <fmt/format.h>

#include <algorithm>

namespace backgauge {
namespace {

bool multiply_adds_are_the_limit(const Machine& machine, backgauge_dtype dtype) {
  switch (dtype) {
    case BACKGAUGE_HALF:
    case BACKGAUGE_BFLOAT16: return !machine.matrix_units && !machine.half_units;
    case BACKGAUGE_FLOAT32: return !machine.matrix_units;
    default: return true;
  }
}

}  // namespace

double least_seconds(double bytes, const Machine& machine, const Limits& limits, int threads) {
  struct Level {
    std::int64_t capacity;  // 0: there is none
    double gbps;
  };
  if (std::max({machine.l1_bytes, machine.l2_bytes, machine.l3_bytes}) == 0) return 0;
  const Bandwidth &read = limits.read, &copy = limits.copy;
  const Level levels[] = {{machine.l1_bytes, read.l1 + copy.l1},
                          {machine.l2_bytes, read.l2 + copy.l2},
                          {machine.l3_bytes, read.l3 + copy.l3},
                          {1, read.memory + copy.memory}};
  double least = 0, held = 0;
  for (const Level& level : levels) {
    if (level.capacity == 0) continue;
    if (level.gbps > 0) least = std::max(least, (bytes - held) / (level.gbps * kGiga));
    held += static_cast<double>(level.capacity) * threads;
  }
  return least;
}

std::string implausible(const WorkloadResult& workload, const Entry& entry, const Machine& machine,
                        const Limits& limits, double fma_gflops, double noise) {
  const double slack = 1 + std::max(noise, kLeastNoise), seconds = entry.seconds();
  const backgauge_dtype dtype = workload.workload.c.dtype;
  const double rate = std::max(fma_gflops, limits.fma(dtype)), gflops = workload.work.flops / seconds / kGiga;
  if (rate > 0 && multiply_adds_are_the_limit(machine, dtype) && gflops > slack * rate) {
    return fmt::format("{:.3g} ms would be {:.0f} GFLOP/s, but the multiply-add limit of this machine is {:.0f}",
                       1e3 * seconds, gflops, rate);
  }
  const double least = least_seconds(workload.work.bytes, machine, limits, workload.threads);
  if (seconds * slack < least) {
    return fmt::format("{:.3g} us, but to move the {:.3g} MB of a call this machine needs at least {:.3g} us",
                       1e6 * seconds, workload.work.bytes / 1e6, 1e6 * least);
  }
  return "";
}

std::string above_limit(const WorkloadResult& workload, const Entry& entry, const Machine& machine) {
  if (workload.share_of_limit(entry) <= 1 + kLeastNoise) return "";
  const backgauge_dtype dtype = workload.workload.c.dtype;
  const bool bytes = workload.work.limited_by == LimitedBy::kBandwidth;
  if (bytes && entry.on_device)
    return "the limit is a copy; a call that reads more than it writes, or whose data stay in the second level, is "
           "faster";
  if (bytes)
    return "the limit is a copy; a call that reads more than it writes, or whose data stay in a faster level, is "
           "faster";
  if (entry.on_device && dtype == BACKGAUGE_FLOAT32) {
    return "the limit is cuBLASLt's float32; products in TF32, or in parts of 16 bits, are faster";
  }
  if (entry.on_device) return "the limit is a large product by cuBLASLt; the clock of the device depends on its load";
  if (!multiply_adds_are_the_limit(machine, dtype)) {
    return "the limit is the multiply-add loop; this CPU has units that multiply faster";
  }
  return "the limit is the multiply-add loop, which was slowed by other programs or by a lower clock";
}

}  // namespace backgauge
