// SPDX-License-Identifier: Apache-2.0
// Tests on every path of this architecture. One that cannot be taken here is a skipped test that says why.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "impl/cpu/machine/path.h"

namespace backgauge::cpu {

inline std::vector<Path> paths_of_this_architecture() {
#if HWY_ARCH_X86
  return {Path::kAvx512, Path::kAvx2, Path::kScalar};
#elif HWY_ARCH_ARM_A64
  return {Path::kNeon, Path::kScalar};
#else
  return {Path::kScalar};
#endif
}

class TestOnAPath : public testing::TestWithParam<Path> {
 protected:
  void SetUp() override {
    if (const std::string lacks(missing(GetParam())); !lacks.empty()) GTEST_SKIP() << word(GetParam()) << ": " << lacks;
  }
};

inline std::string name_of_path(const testing::TestParamInfo<Path>& path) { return std::string(word(path.param)); }

}  // namespace backgauge::cpu
