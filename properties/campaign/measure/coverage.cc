// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/measure/coverage.h"

#include <algorithm>
#include <set>

#include "properties/campaign/settings/settings.h"
#include "properties/campaign/settings/size_conditions.h"

namespace backgauge {
namespace {

std::string text_of(const std::vector<Setting>& settings, const Row& row) {
  std::string text;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] == kUnset) continue;
    text.append(text.empty() ? "" : " ").append(settings[k].name).append("=");
    text.append(settings[k].values[static_cast<std::size_t>(row[k])]);
  }
  return text;
}

}  // namespace

std::vector<Axis> coverage(backgauge_op op, const std::vector<Case>& cases) {
  std::vector<Axis> out;
  for (const Setting& setting : settings_of(op)) {
    Axis axis{std::string(setting.name), {}};
    for (const std::string_view value : setting.values) axis.values.emplace_back(value, 0);
    const bool is_data = setting.name == "data";
    if (is_data) axis.values.emplace_back("golden", 0);
    for (const Case& c : cases) {
      if (c.op != op) continue;
      const int value = setting.value_of(c);
      if (value != kUnset) ++axis.values[static_cast<std::size_t>(value)].second;
      if (is_data && c.data == DataProfile::kGolden) ++axis.values.back().second;
    }
    out.push_back(std::move(axis));
  }
  return out;
}

PairCoverage pair_coverage(backgauge_op op, const std::vector<Case>& cases) {
  std::set<Row> had;
  for (const Case& c : cases) {
    if (c.op != op) continue;
    const Row row = row_of(c);
    Row pair(row.size(), kUnset);
    for (std::size_t first = 0; first < row.size(); ++first) {
      pair[first] = row[first];
      for (std::size_t second = first + 1; second < row.size(); ++second) {
        pair[second] = row[second];
        had.insert(pair);
        pair[second] = kUnset;
      }
      pair[first] = kUnset;
    }
  }
  PairCoverage out;
  for (const Row& pair : legal_combinations(factors_of(op), 2)) {
    ++out.legal;
    if (had.contains(pair)) {
      ++out.covered;
    } else if (out.missing.empty()) {
      out.missing = text_of(settings_of(op), pair);
    }
  }
  return out;
}

PairCoverage size_coverage(backgauge_op op, const std::vector<Case>& cases, int strength) {
  Dtypes dtypes;
  for (const Dtypes& group : dtype_groups(op)) dtypes.insert(dtypes.end(), group.begin(), group.end());
  std::set<std::vector<int>> had;
  for (const Case& c : cases) {
    if (c.op == op) had.insert(conditions_met(c));
  }
  SizeCombinations missing = legal_size_combinations(op, dtypes, strength);
  PairCoverage out{.covered = 0, .legal = missing.size(), .missing = ""};
  for (const std::vector<int>& met : had) missing.erase(met, strength);
  out.covered = out.legal - missing.size();
  if (missing.size() > 0) out.missing = text_of(op, missing.first());
  return out;
}

}  // namespace backgauge
