// SPDX-License-Identifier: Apache-2.0
// Checks that limits are found and counted correctly, not how high they are.
#include "perf/machine/probe.h"

#include <gtest/gtest.h>

#include <vector>

#include "perf/machine/probe_kernels.h"

namespace backgauge {
namespace {

TEST(ProbeKernels, CountTheirFlops) {
  EXPECT_GT(fma_loop_f32(1), 0);
  EXPECT_EQ(fma_loop_f32(1000), 1000 * fma_loop_f32(1));
  EXPECT_EQ(fma_loop_f32(10), 2 * fma_loop_f64(10));  // twice as many elements in a vector
}

TEST(ProbeKernels, CopyAllBytes) {
  struct alignas(64) Block {
    std::byte bytes[3 * kProbeGrain];
  };
  const auto from = std::make_unique<Block>(), to = std::make_unique<Block>();
  for (const auto copy : {copy_loop, stream_loop}) {
    for (std::size_t k = 0; k < sizeof from->bytes; ++k) {
      from->bytes[k] = static_cast<std::byte>(k * 7);
      to->bytes[k] = std::byte{0};
    }
    copy(from->bytes, to->bytes, 2 * kProbeGrain);
    for (std::size_t k = 0; k < sizeof from->bytes; ++k) {
      ASSERT_EQ(to->bytes[k], k < 2 * kProbeGrain ? from->bytes[k] : std::byte{0}) << k;
    }
  }
}

TEST(Probe, FindsEveryLevelThatThereIs) {
  const Machine machine = this_machine();
  const Limits limits = probe_limits(machine, 1);
  EXPECT_GT(limits.fma_f32, 0);
  EXPECT_GT(limits.fma_f64, 0);
  for (const Bandwidth& bandwidth : {limits.read, limits.copy}) {
    EXPECT_EQ(bandwidth.l1 > 0, machine.l1_bytes > 0);
    EXPECT_EQ(bandwidth.l2 > 0, machine.l2_bytes > 0);
    EXPECT_EQ(bandwidth.l3 > 0, machine.l3_bytes > 0);
    EXPECT_GT(bandwidth.memory, 0);
  }
  EXPECT_EQ(limits.fma(BACKGAUGE_HALF), limits.fma_f32);
  EXPECT_EQ(limits.fma(BACKGAUGE_FLOAT64), limits.fma_f64);
}

TEST(Probe, ThreadsWorkTogether) { EXPECT_GT(fma_rate(BACKGAUGE_FLOAT32, 3, std::chrono::microseconds(500)), 0); }

}  // namespace
}  // namespace backgauge
