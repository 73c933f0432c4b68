// SPDX-License-Identifier: Apache-2.0
#include "ci/likeness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "properties/judge/hint.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

const Output* find(const std::vector<Output>& outputs, const std::string& name) {
  const auto place = std::ranges::find(outputs, name, [](const Output& output) { return output.raw.name; });
  return place == outputs.end() ? nullptr : &*place;
}

// Whether every output is met, and one of them is wrong enough to be told by.
bool are_alike(const std::vector<Wanted>& wanted, const std::vector<Output>& got, const std::vector<Output>& known) {
  bool told = false;
  for (const Wanted& tensor : wanted) {
    const Output* a = find(got, tensor.name);
    const Output* b = find(known, tensor.name);
    if (a == nullptr || b == nullptr || a->values.size() != tensor.value.size()) return false;
    const Explained explained = explain(tensor, a->values, b->values);
    if (!explained.met) return false;
    told = told || explained.telling;
  }
  return told;
}

}  // namespace

RunResult run_gradient(Runner& runner, const Problem& problem, const RunOptions& options) {
  std::vector<RawTensor> raw;
  if (problem.op == BACKGAUGE_CUDNN_RNN_BACKPROP) {
    for (Output& output : runner.run(forward_problem(problem), {}, options).outputs) {
      raw.push_back(std::move(output.raw));
    }
  }
  return runner.run(problem, raw, options);
}

std::string likeness(const Problem& problem, const std::vector<Wanted>& wanted, const std::vector<Output>& outputs) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> found;
  const std::vector<saboteurs::Variant>& variants = saboteurs::variants();
  for (std::size_t k = 0; k < variants.size(); ++k) {
    if (variants[k].kind != saboteurs::Kind::kSaboteur || variants[k].op != problem.op) continue;
    InProcessRunner runner(saboteurs::implementation(k));
    if (!are_alike(wanted, outputs, run_gradient(runner, problem, {}).outputs)) continue;
    if (found.size() == kMost) return "";
    found.push_back(fmt::format("{} [{}]", variants[k].what, variants[k].id.substr(0, variants[k].id.rfind('.'))));
  }
  return found.empty() ? "" : fmt::format("the same numbers as with: {}", fmt::join(found, "; or "));
}

}  // namespace backgauge::cli
