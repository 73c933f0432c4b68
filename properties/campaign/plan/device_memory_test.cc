// SPDX-License-Identifier: Apache-2.0
// The judge in device memory, without a device: BACKGAUGE_CUDART names a fake libcudart
// (properties/device/testing).
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "impl/registry.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/case/draw/inputs.h"
#include "properties/device/runtime.h"
#include "properties/judge/judge.h"

namespace backgauge {
namespace {

class DeviceMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("BACKGAUGE_CUDART", BACKGAUGE_FAKE_CUDART, 1);
    ASSERT_EQ(device::absence(), "");
  }

  static const backgauge_implementation& plugin(const std::string& name) {
    std::string error;
    const backgauge_implementation* table = open_implementation(BACKGAUGE_TEST_PLUGINS "/" + name + ".so", error);
    if (table == nullptr) throw std::runtime_error(error);
    return *table;
  }

  static std::vector<Case> smoke_tier() {
    return plan({.tier = Tier::kSmoke,
                 .seed = 1,
                 .ops = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}});
  }

  static Verdict judged(const backgauge_implementation& implementation, const Case& c) {
    const Filled filled = fill(c);
    if (!filled.error.empty()) return {Status::kBroken, filled.error, {}};
    return judge_case(implementation, filled.problem, filled.facts, {.seed = c.seed});
  }
};

TEST_F(DeviceMemoryTest, VerdictsAreThoseOfHostMemory) {
  const backgauge_implementation& on_device = plugin("on_fake_device");
  ASSERT_EQ(on_device.memory_space, BACKGAUGE_CUDA);
  std::string error;
  const backgauge_implementation& on_host = *open_implementation("plain", error);
  std::map<Status, int> counts;
  const std::vector<Case> cases = smoke_tier();
  for (std::size_t k = 0; k < cases.size(); k += 5) {
    const Verdict there = judged(on_device, cases[k]), here = judged(on_host, cases[k]);
    EXPECT_EQ(there.status, here.status) << to_string(cases[k]) << ": " << there.reason;
    ++counts[there.status];
  }
  EXPECT_GT(counts[Status::kPassed], 300);
  EXPECT_EQ(counts[Status::kFailed] + counts[Status::kBroken], 0);
}

TEST_F(DeviceMemoryTest, AWriteBeforeAnOutputIsSeen) {
  const backgauge_implementation& faulty = plugin("writes_before_on_fake_device");
  int seen = 0;
  const std::vector<Case> cases = smoke_tier();
  for (std::size_t k = 0; k < cases.size(); k += 40) {
    const Verdict verdict = judged(faulty, cases[k]);
    if (verdict.status != Status::kFailed) continue;  // a refused call, or one without elements
    EXPECT_NE(verdict.reason.find("wrote before the beginning of"), std::string::npos) << verdict.reason;
    ++seen;
  }
  EXPECT_GT(seen, 10);
}

}  // namespace
}  // namespace backgauge
