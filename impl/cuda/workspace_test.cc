// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/workspace.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "impl/cuda/device/testing/error_of.h"

namespace backgauge::cuda {
namespace {

TEST(Workspace, CountsWhatItHandsOutAndWatchesWhatLiesBetween) {
  const auto take = [](Workspace& workspace) {
    return std::pair(workspace.take<float>({3, 5}), workspace.take<Half>({1}));
  };
  Workspace count;
  EXPECT_EQ(take(count).first, nullptr);
  alignas(Workspace::kAlignment) std::array<std::byte, 1024> memory{};
  ASSERT_LE(count.bytes(), memory.size());
  for (const int past : {-1, 0, 15}) {
    Workspace workspace(memory.data());
    const auto [floats, halves] = take(workspace);
    EXPECT_EQ(workspace.bytes(), count.bytes());
    EXPECT_TRUE(std::isnan(floats[14]) && std::isnan(wide(*halves)));
    if (past >= 0) floats[15 + past] = 1;
    EXPECT_EQ(error_of([&] { workspace.expect_untouched_guards(); }),
              past < 0 ? "" : "an array of the workspace was written past its end");
  }
}

TEST(Workspace, KnowsWhenItCannotCount) {
  Workspace count;
  count.take<float>({std::int64_t{1} << 40, std::int64_t{1} << 40});
  EXPECT_FALSE(count.countable());
}

}  // namespace
}  // namespace backgauge::cuda
