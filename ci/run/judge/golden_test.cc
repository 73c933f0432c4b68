// SPDX-License-Identifier: Apache-2.0
// The results of TensorFlow and PyTorch are within the oracle's bounds, and a wrong number among them is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "ci/run/judge/judging.h"

namespace backgauge::cli {
namespace {

// What cuDNN computes on a device is described in float64. In the other types it rounds what it saves, and approximates
// tanh.
bool is_described(const Golden& golden) {
  if (golden.group != "device") return true;
  return golden.case_line.dtype == BACKGAUGE_FLOAT64;
}

void judge_directory(const std::filesystem::path& directory) {
  std::string error;
  const std::vector<Golden> goldens = list_goldens(directory, error);
  ASSERT_EQ(error, "");
  ASSERT_FALSE(goldens.empty());
  std::size_t not_described = 0;
  for (const Golden& golden : goldens) {
    if (!is_described(golden)) {
      ++not_described;
      continue;
    }
    GoldenData data;
    ASSERT_TRUE(read_golden(directory, golden, data, error)) << error;
    StoredOutputs stored(data);
    stored.declared.relu_slope_at_zero = golden.regime == "kinks";
    const Verdict verdict = stored.judge();
    EXPECT_EQ(verdict.status, Status::kPassed) << golden.name << ": " << verdict.reason;
    if (golden.regime == "kinks") {
      stored.declared.relu_slope_at_zero = false;
      EXPECT_EQ(stored.judge().status, Status::kFailed) << golden.name << " with the other slope";
      stored.declared.relu_slope_at_zero = true;
    }

    for (GivenTensor& tensor : stored.given) {
      if (tensor.values.empty()) continue;
      const auto [least, largest] = std::minmax_element(tensor.values.begin(), tensor.values.end());
      const double far_off = 1 + 10 * std::max(std::abs(*least), std::abs(*largest));
      const double right = std::exchange(tensor.values.back(), far_off);
      EXPECT_EQ(stored.judge().status, Status::kFailed) << golden.name << " with a wrong " << tensor.name;
      tensor.values.back() = right;
    }
  }
  EXPECT_LT(not_described, goldens.size());
  if (not_described == 0) return;
  std::cout << "SKIPPED " << not_described << " vectors of a library on a device: what it rounds and approximates "
            << "cannot be declared\n";
}

TEST(Goldens, OfTheProjectAgreeWithTheOracleAndWrongOnesDoNot) {
  std::string error;
  const std::filesystem::path directory = golden_directory(error);
  ASSERT_EQ(error, "");
  judge_directory(directory);
}

TEST(Goldens, OfAnotherFolderAgreeWithTheOracleToo) {
  const char* given = std::getenv("BACKGAUGE_EXTRA_GOLDENS");
  std::string error;
  const std::filesystem::path beside_the_repository = golden_directory(error) / "../../../../shared/goldens";
  const std::filesystem::path directory = given != nullptr ? given : beside_the_repository;
  if (!std::filesystem::exists(directory / "manifest.json")) {
    GTEST_SKIP() << "no further golden vectors: set BACKGAUGE_EXTRA_GOLDENS to a folder with a manifest.json";
  }
  judge_directory(directory);
}

}  // namespace
}  // namespace backgauge::cli
