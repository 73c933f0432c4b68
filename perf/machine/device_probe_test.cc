// SPDX-License-Identifier: Apache-2.0
// The limits of a device, without one: the fakes of properties/device/testing stand for CUDA's libraries.
#include "perf/machine/device_probe.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "perf/machine/machine.h"
#include "properties/device/products.h"

namespace backgauge {
namespace {

class DeviceProbeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("BACKGAUGE_CUDART", BACKGAUGE_FAKE_CUDART, 1);
    setenv("BACKGAUGE_CUBLASLT", BACKGAUGE_FAKE_CUBLASLT, 1);
    setenv("FAKE_CUDA_GFLOPS", "400", 1);
  }
};

TEST_F(DeviceProbeTest, FactsAreWhatTheDriverSays) {
  const std::optional<device::Facts> facts = device::facts();
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->name, "Fake GPU");
  EXPECT_EQ(facts->capability, "9.0");
  EXPECT_EQ(facts->multiprocessors, 4);
  EXPECT_EQ(facts->clock_mhz, 1500);
  EXPECT_EQ(facts->memory_clock_mhz, 2000);
  EXPECT_EQ(facts->memory_bus_bits, 512);
  EXPECT_EQ(facts->l2_bytes, 1 << 20);
  EXPECT_EQ(facts->memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(facts->cuda_of_driver, "13.1");
  EXPECT_EQ(facts->cuda_runtime, "13.0");
}

// A fake product takes at least as long as the rate says, and longer on a busy machine.
TEST_F(DeviceProbeTest, RatesAreThoseOfTheProducts) {
  const DeviceLimits limits = probe_device(device::facts().value());
  EXPECT_EQ(limits.products_missing, "");
  EXPECT_EQ(limits.products_version, "13.1.2");
  for (const auto& [dtype, gflops] : {std::pair{BACKGAUGE_HALF, 1600}, std::pair{BACKGAUGE_BFLOAT16, 1600},
                                      std::pair{BACKGAUGE_FLOAT32, 400}, std::pair{BACKGAUGE_FLOAT64, 200}}) {
    EXPECT_LE(limits.products(dtype), gflops);
    EXPECT_GT(limits.products(dtype), 0.1 * gflops);
  }
  EXPECT_LE(limits.tf32, 800);
  EXPECT_GT(limits.tf32, 0);
  EXPECT_GT(limits.copy_memory, 0);
  EXPECT_GT(limits.launch_us, 0);
}

TEST(DeviceLimits, CopiesAreThoseOfTheLevelThatHoldsTheBytes) {
  device::Facts facts;
  facts.l2_bytes = 1000;
  DeviceLimits limits;
  limits.copy_memory = 3;
  EXPECT_EQ(limits.copy(1000, facts), 3) << "of L2 nothing is known";
  limits.copy_l2 = 7;
  EXPECT_EQ(limits.copy(1000, facts), 7);
  EXPECT_EQ(limits.copy(1001, facts), 3);
}

TEST(Machines, WithAnotherDeviceAreOthers) {
  Machine machine;
  const std::string without = machine.id();
  machine.device = device::Facts{};
  machine.device->name = "H100";
  const std::string with_h100 = machine.id();
  EXPECT_NE(with_h100, without);
  machine.device->name = "A100";
  EXPECT_NE(machine.id(), with_h100);
  machine.device->name = "H100";
  machine.device->driver = "1.2";
  EXPECT_EQ(machine.id(), with_h100) << "a driver is not a machine";
  machine.device->multiprocessors = 114;
  EXPECT_NE(machine.id(), with_h100);
}

}  // namespace
}  // namespace backgauge
