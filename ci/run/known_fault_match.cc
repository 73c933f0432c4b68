// SPDX-License-Identifier: Apache-2.0
#include "ci/run/known_fault_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "properties/explain/hint.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

const GivenTensor* find(const std::vector<GivenTensor>& outputs, const std::string& name) {
  const auto place = std::ranges::find(outputs, name, &GivenTensor::name);
  return place == outputs.end() ? nullptr : &*place;
}

// Whether every output is met, and one of them is wrong enough to decide.
bool are_alike(const std::vector<Wanted>& wanted, const std::vector<GivenTensor>& got,
               const std::vector<GivenTensor>& known) {
  bool conclusive = false;
  for (const Wanted& tensor : wanted) {
    const GivenTensor* a = find(got, tensor.name);
    const GivenTensor* b = find(known, tensor.name);
    if (a == nullptr || b == nullptr || a->values.size() != tensor.value.size()) return false;
    const Explained explained = explain(tensor, a->values, b->values);
    if (!explained.met) return false;
    conclusive = conclusive || explained.conclusive;
  }
  return conclusive;
}

bool is_made_by_rule(const saboteurs::Variant& variant) { return variant.group == "operator"; }

}  // namespace

std::vector<RunResult> run_everything(Runner& runner, const Problem& problem, const RunOptions& options) {
  std::vector<RunResult> results;
  std::vector<RawTensor> raw;
  if (traits_of(problem.op).forward) {
    results.push_back(runner.run(forward_problem(problem), {}, options));
    for (const Output& output : results.back().outputs) raw.push_back(output.raw);
  }
  results.push_back(runner.run(problem, raw, options));
  return results;
}

std::vector<GivenTensor> given_of(const std::vector<RunResult>& results, backgauge_dtype dtype) {
  std::vector<GivenTensor> given;
  for (const RunResult& result : results) {
    for (const Output& output : result.outputs)
      given.push_back({output.raw.name, output.raw.shape, dtype, output.values});
  }
  return given;
}

std::string known_fault_match(const Problem& problem, const std::vector<Wanted>& wanted,
                              const std::vector<GivenTensor>& given) {
  constexpr std::size_t kMost = 3;
  std::vector<const saboteurs::Variant*> found;
  const std::vector<saboteurs::Variant>& variants = saboteurs::variants();
  for (std::size_t k = 0; k < variants.size(); ++k) {
    if (variants[k].kind != saboteurs::Kind::kSaboteur || variants[k].op != problem.op) continue;
    InProcessRunner runner(saboteurs::implementation(k));
    const std::vector<GivenTensor> known = given_of(run_everything(runner, problem, {}), problem.dtype);
    if (are_alike(wanted, given, known)) found.push_back(&variants[k]);
  }
  if (!std::ranges::all_of(
          found, is_made_by_rule, [](const auto* variant) -> const auto& { return *variant; })) {
    std::erase_if(found, [](const saboteurs::Variant* variant) { return is_made_by_rule(*variant); });
  }
  if (found.empty() || found.size() > kMost) return "";
  std::vector<std::string> names;
  for (const saboteurs::Variant* variant : found) names.push_back(variant->what);
  return fmt::format("the same numbers as a known error: {}", fmt::join(names, "; or "));
}

}  // namespace backgauge::cli
