// SPDX-License-Identifier: Apache-2.0
// The results of TensorFlow, PyTorch and cuDNN are within the oracle's bounds, and a wrong number among them is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ci/run/judge/judging.h"

namespace backgauge::cli {
namespace {

// Elements that are not, bit for bit, what the oracle expects.
std::int64_t differences(const GoldenData& data) {
  std::int64_t count = 0;
  const std::vector<Wanted> wanted = oracle(data.problem, data.declared, RoundingErrors::kCorrelated);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    for (std::size_t k = 0; k < wanted[t].value.size(); ++k) {
      if (wanted[t].value[k] != static_cast<long double>(data.outputs[t].values[k])) ++count;
    }
  }
  return count;
}

// Class S leaves little in 8 significant bits, and for some nets in 11.
bool proves_little(const Golden& golden) {
  return golden.group == "device" && golden.regime != "kinks" && is_narrow(golden.case_line.dtype);
}

void judge_directory(const std::filesystem::path& directory) {
  std::string error;
  const std::vector<Golden> goldens = list_goldens(directory, error);
  ASSERT_EQ(error, "");
  ASSERT_FALSE(goldens.empty());
  std::size_t inconclusive = 0;
  for (const Golden& golden : goldens) {
    GoldenData data;
    ASSERT_TRUE(read_golden(directory, golden, data, error)) << error;
    StoredOutputs stored(data);
    const Verdict verdict = stored.judge();
    if (verdict.status == Status::kMistrusted && proves_little(golden)) {
      ++inconclusive;
    } else {
      EXPECT_EQ(verdict.status, Status::kPassed) << golden.name << ": " << verdict.reason;
    }
    if (golden.regime == "kinks") {
      EXPECT_EQ(differences(data), 0) << golden.name;
      data.declared.relu_slope_at_zero = !data.declared.relu_slope_at_zero;
      EXPECT_GT(differences(data), 0) << golden.name << " with the other slope";
    }
    if (data.problem.keep.size() > static_cast<std::size_t>(data.problem.extents.L - 1)) {
      const std::vector<std::vector<std::uint8_t>> right = data.problem.keep;
      for (std::size_t k = 0; k + 1 < right.size(); k += 2) std::swap(data.problem.keep[k], data.problem.keep[k + 1]);
      EXPECT_EQ(StoredOutputs(data).judge().status, Status::kFailed) << golden.name << " with masks exchanged";
      data.problem.keep = right;
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
  EXPECT_LT(8 * inconclusive, goldens.size());
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
  ASSERT_EQ(error, "");
  const std::filesystem::path directory = given != nullptr ? given : beside_the_repository;
  if (!std::filesystem::exists(directory / "manifest.json")) {
    // A folder that was asked for is never skipped.
    ASSERT_EQ(given, nullptr) << "BACKGAUGE_EXTRA_GOLDENS=" << given << ": no manifest.json there";
    GTEST_SKIP() << "no further golden vectors: set BACKGAUGE_EXTRA_GOLDENS to a folder with a manifest.json";
  }
  judge_directory(directory);
}

}  // namespace
}  // namespace backgauge::cli
