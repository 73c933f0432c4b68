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

std::string state_of(const VerdictCounts& cell) {
  if (cell.failed() > 0) return "failed";
  if (cell.waived > 0) return "waived";
  if (cell[Status::kMistrusted] > 0) return "mistrusted";
  if (cell[Status::kPassed] > 0) return "passed";
  return cell[Status::kSkipped] > 0 ? "skipped" : "none";
}

std::string text_of(const VerdictCounts& cell) {
  const std::size_t passed = cell[Status::kPassed];
  const std::size_t all = passed + cell.waived + cell.failed() + cell[Status::kMistrusted];
  if (all == 0) return cell[Status::kSkipped] > 0 ? "skipped" : "-";
  return passed == all ? std::to_string(all) : fmt::format("{}/{}", passed, all);
}

Json cell_json(const VerdictCounts& cell) {
  Json out{{"state", state_of(cell)}, {"text", text_of(cell)}};
  out.update(to_json(cell));
  return out;
}

bool is_generated(const Case& c) { return c.data != DataProfile::kMalformed && c.data != DataProfile::kGolden; }

// A table of an op; rows and columns in the order in which they were declared.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::map<std::pair<std::size_t, std::size_t>, VerdictCounts> cells;

  Json json(backgauge_op op) const {
    Json out{{"op", find_op(op)->word}, {"columns", columns}, {"rows", Json::array()}};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      Json line{{"name", rows[row]}, {"cells", Json::array()}};
      bool any = false;
      for (std::size_t column = 0; column < columns.size(); ++column) {
        const auto found = cells.find({row, column});
        any = any || found != cells.end();
        line["cells"].push_back(cell_json(found == cells.end() ? VerdictCounts{} : found->second));
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

Json to_json(const VerdictCounts& counts) {
  return {{"passed", counts[Status::kPassed]},
          {"failed", counts[Status::kFailed]},
          {"waived", counts.waived},
          {"mistrusted", counts[Status::kMistrusted]},
          {"skipped", counts[Status::kSkipped]},
          {"broken", counts[Status::kBroken]}};
}

Json overview(const std::vector<JudgedCase>& cases) {
  std::map<std::pair<backgauge_op, backgauge_dtype>, std::array<VerdictCounts, 3>> rows;
  for (const JudgedCase& judged : cases) {
    const std::size_t column = judged.c.data == DataProfile::kGolden ? 0 : is_generated(judged.c) ? 1 : 2;
    rows[{judged.c.op, judged.c.dtype}][column].add(*judged.record);
  }
  Json out = Json::array();
  for (const auto& [key, cells] : rows) {
    out.push_back({{"op", find_op(key.first)->word},
                   {"dtype", dtype_word(key.second)},
                   {"golden", cell_json(cells[0])},
                   {"generated", cell_json(cells[1])},
                   {"malformed", cell_json(cells[2])}});
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
      const bool endless = tensor.unwritten > 0 || tensor.added > 0 || tensor.nonfinite > 0;
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
