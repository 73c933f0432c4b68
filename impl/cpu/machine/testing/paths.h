// SPDX-License-Identifier: Apache-2.0
// Tests on every path that the machine can run.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "impl/cpu/machine/path.h"

namespace backgauge::cpu {

inline std::vector<Path> paths_of_this_machine() {
  std::vector<Path> paths;
  for (const Path path : kPaths) {
    if (machine_has(path)) paths.push_back(path);
  }
  return paths;
}

inline std::string name_of_path(const testing::TestParamInfo<Path>& path) { return std::string(word(path.param)); }

}  // namespace backgauge::cpu
