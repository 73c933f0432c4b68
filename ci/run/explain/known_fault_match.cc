// SPDX-License-Identifier: Apache-2.0
#include "ci/run/explain/known_fault_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "properties/explain/hint.h"
#include "properties/saboteurs/effort.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

const GivenTensor* find(const std::vector<GivenTensor>& outputs, const std::string& name) {
  const auto place = std::ranges::find(outputs, name, &GivenTensor::name);
  return place == outputs.end() ? nullptr : &*place;
}

// Whether every output matches, and one of them is wrong enough to be conclusive.
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

std::vector<GivenTensor> given_by(CaseSession& session, const RunOptions& options) {
  CaseOutputs made = session.run_all(options);
  std::vector<GivenTensor> given;
  for (Output& output : made.outputs) {
    given.push_back({output.raw.name, output.raw.shape, session.problem().dtype, std::move(output.values)});
  }
  return given;
}

std::string known_fault_match(const Problem& problem, const std::vector<Wanted>& wanted,
                              const std::vector<GivenTensor>& given) {
  if (saboteurs::multiplications(problem.op, problem.extents) > saboteurs::kFewMultiplications) return "";
  constexpr std::size_t kMost = 3;
  std::vector<const saboteurs::Variant*> found;
  const std::vector<saboteurs::Variant>& variants = saboteurs::variants();
  for (std::size_t k = 0; k < variants.size(); ++k) {
    if (variants[k].kind != saboteurs::Kind::kSaboteur || variants[k].op != problem.op) continue;
    InProcessRunner runner(saboteurs::implementation(k));
    CaseSession session(runner, problem);
    const std::vector<GivenTensor> known = given_by(session, {});
    if (are_alike(wanted, given, known)) found.push_back(&variants[k]);
  }
  if (!std::ranges::all_of(
          found, is_made_by_rule, [](const auto* variant) -> const auto& { return *variant; })) {
    std::erase_if(found, [](const saboteurs::Variant* variant) { return is_made_by_rule(*variant); });
  }
  if (found.empty() || found.size() > kMost) return "";
  std::vector<std::string> names;
  for (const auto* variant : found) names.push_back(fmt::format("{} (saboteur:{})", variant->what, variant->id));
  return fmt::format("all outputs match those of a known error: {}", fmt::join(names, "; or "));
}

}  // namespace backgauge::cli
