// SPDX-License-Identifier: Apache-2.0
// Counts of verdicts in tables: op x dtype, and for each op dtype x mode x feature and data profile x dtype.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/record/record.h"

namespace backgauge::cli {

struct VerdictCounts {
  std::array<std::size_t, 5> of{};  // per Status, without those that are waived
  std::size_t waived = 0;

  void add(const Record& record) { ++(record.waived ? waived : of[static_cast<std::size_t>(record.verdict.status)]); }
  std::size_t operator[](Status status) const { return of[static_cast<std::size_t>(status)]; }
  std::size_t failed() const { return (*this)[Status::kFailed] + (*this)[Status::kBroken]; }
};
nlohmann::ordered_json to_json(const VerdictCounts& counts);  // {passed, failed, waived, mistrusted, skipped, broken}

struct JudgedCase {
  Case c;
  const Record* record;
};

// Each cell has "state", "text" and the counts "passed", "failed", "waived", "mistrusted", "skipped", "broken". Its
// state is the first that it has of: failed (BROKEN too), waived, mistrusted, passed, skipped, none.
nlohmann::ordered_json overview(const std::vector<JudgedCase>& cases);  // [{op, dtype, golden, generated, malformed}]
nlohmann::ordered_json feature_matrix(const std::vector<JudgedCase>& cases);  // [{op, columns, rows: [{name, cells}]}]
nlohmann::ordered_json profile_matrix(const std::vector<JudgedCase>& cases);  // the same

// The largest error / allowed error of each output: [{op, dtype, tensors: [{tensor, ratio, share, over}]}]. share: its
// place in per cent on a logarithmic scale from 1e-3 to 1e3, the limit 1 in the middle.
nlohmann::ordered_json worst_ratios(const std::vector<JudgedCase>& cases);

}  // namespace backgauge::cli
