// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/verdict_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "properties/campaign/settings/settings.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Cell {
  std::array<std::size_t, 5> counts{};  // per Status, without those that are waived
  std::size_t waived = 0;

  std::size_t count(Status status) const { return counts[static_cast<std::size_t>(status)]; }

  void add(const Record& record) {
    if (record.waived) {
      ++waived;
    } else {
      ++counts[static_cast<std::size_t>(record.verdict.status)];
    }
  }

  std::string state() const {
    if (count(Status::kFailed) + count(Status::kBroken) > 0) return "failed";
    if (waived > 0) return "waived";
    if (count(Status::kMistrusted) > 0) return "mistrusted";
    if (count(Status::kPassed) > 0) return "passed";
    return count(Status::kSkipped) > 0 ? "skipped" : "none";
  }

  std::string text() const {
    const std::size_t passed = count(Status::kPassed);
    const std::size_t all =
        passed + waived + count(Status::kFailed) + count(Status::kBroken) + count(Status::kMistrusted);
    if (all == 0) return count(Status::kSkipped) > 0 ? "skipped" : "-";
    return passed == all ? std::to_string(all) : fmt::format("{}/{}", passed, all);
  }

  Json json() const {
    return {{"state", state()},
            {"text", text()},
            {"passed", count(Status::kPassed)},
            {"failed", count(Status::kFailed)},
            {"waived", waived},
            {"mistrusted", count(Status::kMistrusted)},
            {"skipped", count(Status::kSkipped)},
            {"broken", count(Status::kBroken)}};
  }
};

bool is_generated(const Case& c) { return c.data != DataProfile::kMalformed && c.data != DataProfile::kGolden; }

// A table of an op; rows and columns in the order in which they were declared.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::map<std::pair<std::size_t, std::size_t>, Cell> cells;

  Json json(backgauge_op op) const {
    Json out{{"op", find_op(op)->word}, {"columns", columns}, {"rows", Json::array()}};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      Json line{{"name", rows[row]}, {"cells", Json::array()}};
      bool any = false;
      for (std::size_t column = 0; column < columns.size(); ++column) {
        const auto found = cells.find({row, column});
        any = any || found != cells.end();
        line["cells"].push_back((found == cells.end() ? Cell{} : found->second).json());
      }
      if (any) out["rows"].push_back(std::move(line));
    }
    return out;
  }
};

// The setting that a user calls the mode of the op: rnn_mode, or whether there are peepholes.
bool is_mode(const Setting& setting) { return setting.name == "mode" || setting.name == "peephole"; }
bool is_feature(const Setting& setting) {
  return setting.name != "dtype" && setting.name != "data" && !is_mode(setting);
}

const Setting& setting_of(backgauge_op op, bool (*wanted)(const Setting&)) {
  return *std::ranges::find_if(settings_of(op), wanted);
}

bool is_dtype(const Setting& setting) { return setting.name == "dtype"; }
bool is_data(const Setting& setting) { return setting.name == "data"; }

Table features_of(backgauge_op op, const std::vector<JudgedCase>& cases) {
  Table table;
  const Setting &dtype = setting_of(op, is_dtype), &mode = setting_of(op, is_mode);
  for (const std::string_view each : dtype.values) {
    for (const std::string_view value : mode.values) {
      table.rows.push_back(fmt::format("{} {}{}", each, mode.name == "mode" ? "" : "peephole ", value));
    }
  }
  std::vector<std::pair<const Setting*, std::size_t>> features;  // and the column of its first value
  for (const Setting& setting : settings_of(op)) {
    if (!is_feature(setting)) continue;
    features.emplace_back(&setting, table.columns.size());
    for (const std::string_view value : setting.values)
      table.columns.push_back(fmt::format("{} {}", setting.name, value));
  }
  for (const JudgedCase& judged : cases) {
    if (judged.c.op != op || !is_generated(judged.c)) continue;
    const auto row = static_cast<std::size_t>(dtype.value_of(judged.c)) * mode.values.size() +
                     static_cast<std::size_t>(mode.value_of(judged.c));
    for (const auto& [setting, first] : features) {
      const int value = setting->value_of(judged.c);
      if (value != kUnset) table.cells[{row, first + static_cast<std::size_t>(value)}].add(*judged.record);
    }
  }
  return table;
}

Table profiles_of(backgauge_op op, const std::vector<JudgedCase>& cases) {
  Table table;
  const Setting &dtype = setting_of(op, is_dtype), &profile = setting_of(op, is_data);
  for (const std::string_view each : dtype.values) table.columns.emplace_back(each);
  for (const std::string_view each : profile.values) table.rows.emplace_back(each);
  for (const JudgedCase& judged : cases) {
    if (judged.c.op != op) continue;
    const std::string name(data_profile_word(judged.c.data));
    auto row = std::ranges::find(table.rows, name);
    if (row == table.rows.end()) row = table.rows.insert(row, name);
    table
        .cells[{static_cast<std::size_t>(row - table.rows.begin()), static_cast<std::size_t>(dtype.value_of(judged.c))}]
        .add(*judged.record);
  }
  return table;
}

Json of_each_op(const std::vector<JudgedCase>& cases, Table (*table)(backgauge_op, const std::vector<JudgedCase>&)) {
  Json out = Json::array();
  for (const OpSpec& spec : op_specs()) {
    if (std::ranges::none_of(cases, [&](const JudgedCase& judged) { return judged.c.op == spec.op; })) continue;
    out.push_back(table(spec.op, cases).json(spec.op));
  }
  return out;
}

}  // namespace

Json overview(const std::vector<JudgedCase>& cases) {
  std::map<std::pair<backgauge_op, backgauge_dtype>, std::array<Cell, 3>> rows;
  for (const JudgedCase& judged : cases) {
    const std::size_t column = judged.c.data == DataProfile::kGolden ? 0 : is_generated(judged.c) ? 1 : 2;
    rows[{judged.c.op, judged.c.dtype}][column].add(*judged.record);
  }
  Json out = Json::array();
  for (const auto& [key, cells] : rows) {
    out.push_back({{"op", find_op(key.first)->word},
                   {"dtype", dtype_word(key.second)},
                   {"golden", cells[0].json()},
                   {"generated", cells[1].json()},
                   {"malformed", cells[2].json()}});
  }
  return out;
}

Json feature_matrix(const std::vector<JudgedCase>& cases) { return of_each_op(cases, features_of); }

Json profile_matrix(const std::vector<JudgedCase>& cases) { return of_each_op(cases, profiles_of); }

Json worst_ratios(const std::vector<JudgedCase>& cases) {
  std::map<std::tuple<backgauge_op, backgauge_dtype, std::string>, double> worst;
  for (const JudgedCase& judged : cases) {
    for (const TensorReport& tensor : judged.record->verdict.tensors) {
      // An element without an error to divide counts as infinitely wrong.
      const bool endless = tensor.unwritten > 0 || tensor.nonfinite > 0;
      const double ratio = endless ? INFINITY : tensor.max_ratio;
      double& most = worst[{judged.c.op, judged.c.dtype, tensor.name}];
      if (!tensor.vacuous) most = std::max(most, ratio);
    }
  }
  Json out = Json::array();
  for (const auto& [key, ratio] : worst) {
    const double place = std::clamp((std::log10(std::max(ratio, 1e-9)) + 3) / 6, 0.0, 1.0);
    const auto [op, dtype, tensor] = key;
    const bool same = !out.empty() && out.back()["op"] == find_op(op)->word && out.back()["dtype"] == dtype_word(dtype);
    if (!same) {
      out.push_back({{"op", find_op(op)->word}, {"dtype", dtype_word(dtype)}, {"tensors", Json::array()}});
    }
    out.back()["tensors"].push_back({{"tensor", tensor},
                                     {"ratio", std::isfinite(ratio) ? fmt::format("{:.3g}", ratio) : "inf"},
                                     {"share", std::round(1000 * place) / 10},
                                     {"over", ratio > 1}});
  }
  return out;
}

}  // namespace backgauge::cli
