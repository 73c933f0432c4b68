// SPDX-License-Identifier: Apache-2.0
// Correct implementations stay far from what they are allowed; wrong ones do not.
#include "properties/campaign/measure/calibration.h"

#include <gtest/gtest.h>

#include "impl/registry.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/saboteurs/variant.h"

namespace backgauge {
namespace {

std::vector<Case> some_cases(std::size_t every) {
  const std::vector<Case> all =
      plan({.tier = Tier::kSmoke,
            .seed = 1,
            .ops = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}});
  std::vector<Case> some;
  for (std::size_t k = 0; k < all.size(); k += every) some.push_back(all[k]);
  return some;
}

TEST(Calibration, OfTheBuiltInImplementationsIsWithinItsLimits) {
  std::vector<CalibrationSubject> subjects;
  for (const std::string& name : registry_names()) {
    std::string error;
    subjects.push_back({name, open_implementation(name, error)});
  }
  Calibration calibration(subjects);
  for (const Case& c : some_cases(2)) calibration.add(c);
  EXPECT_TRUE(calibration.troubles().empty()) << calibration.troubles().front();
  const std::vector<CalibrationRow> rows = calibration.rows();
  // Two ops of two dtypes and two modes, one of four dtypes and four modes.
  EXPECT_EQ(rows.size(), 24u);
  for (const CalibrationRow& row : rows) {
    EXPECT_TRUE(row.acceptable()) << calibration_table({row}) << row.bound_where << "\n" << row.deviation_where;
    EXPECT_GT(row.elements, 0);
    // All that is wrong with class A may be its last rounding.
    const bool half = row.dtype == "f16 A", bfloat16 = row.dtype == "bf16 A";
    if (!half && !bfloat16) {
      EXPECT_GT(row.few_ratio + row.bound_ratio, 0);
    }
    // One term in four of a result is 2^-2; the last rounding leaves 11 bits in half, 8 in bfloat16.
    EXPECT_GE(row.resolution, bfloat16 ? 4 : half ? 7 : 12) << calibration_table({row});
    EXPECT_LE(row.resolution, row.dtype == "f64" ? 52 : row.dtype == "f32" ? 23 : half ? 11 : 8);
  }
}

TEST(Calibration, SeesAFault) {
  const backgauge_implementation* faulty = saboteurs::find_implementation("J6.block");
  ASSERT_NE(faulty, nullptr);
  Calibration calibration({{"J6.block", faulty}});
  for (const Case& c : some_cases(1)) {
    if (c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 && c.dtype == BACKGAUGE_FLOAT32) calibration.add(c);
  }
  ASSERT_EQ(calibration.rows().size(), 2u);
  for (const CalibrationRow& row : calibration.rows()) EXPECT_FALSE(row.acceptable()) << calibration_table({row});
}

TEST(Calibration, ReportsASubjectThatDoesNotAnswer) {
  std::string error;
  backgauge_implementation refusing = *open_implementation("plain", error);
  refusing.run = [](const backgauge_call*, backgauge_message*) { return BACKGAUGE_INTERNAL; };
  Calibration calibration({{"refusing", &refusing}});
  const Case c = some_cases(1).front();
  calibration.add(c);
  ASSERT_EQ(calibration.troubles().size(), 1u);
  EXPECT_TRUE(calibration.troubles().front().starts_with("refusing: " + to_string(c)))
      << calibration.troubles().front();
}

}  // namespace
}  // namespace backgauge
