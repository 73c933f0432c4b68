// SPDX-License-Identifier: Apache-2.0
// The results of `backgauge self` as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/proof/correct_trial.h"
#include "ci/proof/proof.h"
#include "ci/version.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

Json correct_result_json(const CorrectResult& result) {
  return {{"name", result.name},
          {"what", result.what},
          {"runs", result.runs},
          {"passed", result.passed},
          {"mistrusted", result.mistrusted},
          {"skipped", result.skipped},
          {"worst_ratio", result.worst_ratio},
          {"false_alarms", result.false_alarms}};
}

}  // namespace

std::string proof_json(const Proof& proof) {
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json("inf"); };
  Json out{{"schema", "backgauge.proof/1"}, {"version", kVersion},     {"seed", proof.seed}, {"full", proof.full},
           {"holds", proof.holds()},        {"seconds", proof.seconds}};
  Json& results = out["saboteurs"] = Json::array();
  for (const SaboteurResult& result : proof.saboteurs) {
    results.push_back({{"id", result.variant->id},
                       {"group", result.variant->group},
                       {"what", result.variant->what},
                       {"op", find_op(result.variant->op)->word},
                       {"killed", !result.killed_by.empty()},
                       {"killed_by", result.killed_by},
                       {"evidence", result.evidence},
                       {"margin", finite(result.margin)},
                       {"next_margin", finite(result.next_margin)},
                       {"common", result.common},
                       {"kills", result.kills},
                       {"least_probability", result.least_probability},
                       {"laws", result.laws}});
  }
  Json& equivalent = out["equivalent"] = Json::array();
  for (const saboteurs::Variant* variant : proof.equivalent) {
    equivalent.push_back({{"id", variant->id}, {"what", variant->what}, {"argument", variant->argument}});
  }
  Json& unexpressed = out["unexpressed"] = Json::array();
  for (const saboteurs::Unexpressed& row : saboteurs::unexpressed()) {
    unexpressed.push_back({{"id", row.id}, {"reason", row.reason}});
  }
  Json& laws = out["laws"] = Json::array();
  for (const LawResult& law : proof.laws) {
    laws.push_back({{"id", law.id}, {"name", law.name}, {"killed", law.killed}, {"alone", law.alone}});
  }
  Json& correct = out["correct"] = Json::array();
  for (const CorrectResult& each : proof.correct) {
    correct.push_back(correct_result_json(each));
  }
  out["law_false_alarms"] = proof.law_false_alarms;
  Json& scales = out["scales"] = Json::array();
  for (const ScaleResult& each : proof.scales) {
    scales.push_back({{"scale", each.scale}, {"cases", each.cases}, {"pairs", each.pairs}, {"changed", each.changed}});
  }
  Json& hostile = out["hostile"] = Json::array();
  for (const HostileResult& each : proof.hostile) {
    hostile.push_back({{"id", each.id},
                       {"what", each.what},
                       {"expected", each.expected},
                       {"verdict", each.verdict},
                       {"detected", each.detected}});
  }
  return out.dump(1) + "\n";
}

std::string correct_json(const CorrectTrial& trial) {
  Json out{{"schema", "backgauge.correct/1"},
           {"version", kVersion},
           {"tier", trial.options.tier},
           {"seeds", trial.options.seeds},
           {"cases", trial.cases},
           {"holds", trial.holds()},
           {"runs", trial.runs()},
           {"false_alarms", trial.false_alarms()},
           {"interrupted", trial.interrupted},
           {"seconds", trial.seconds}};
  Json& results = out["implementations"] = Json::array();
  for (const CorrectResult& each : trial.results) results.push_back(correct_result_json(each));
  return out.dump(1) + "\n";
}

}  // namespace backgauge::cli
