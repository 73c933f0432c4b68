// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/list_strength.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ci/proof/grid.h"
#include "ci/run/process/interrupt.h"
#include "properties/judge/compare/claims.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {
namespace {

struct Suspect {
  const saboteurs::Variant* variant;
  const backgauge_implementation* implementation;
};

std::vector<Suspect> suspects_of(const CaseList& list, const std::string& only) {
  std::vector<Suspect> out;
  const std::vector<saboteurs::Variant>& variants = saboteurs::variants();
  for (std::size_t n = 0; n < variants.size(); ++n) {
    const saboteurs::Variant& variant = variants[n];
    if (variant.kind != saboteurs::Kind::kSaboteur || variant.op != list.op || !variant.id.starts_with(only)) continue;
    const backgauge_implementation& implementation = saboteurs::implementation(n);
    const std::optional<Claims> claims = claims_of(implementation, list.op);
    if (!claims || !claims->takes(list.dtype)) continue;
    out.push_back({&variant, &implementation});
  }
  return out;
}

ListStrength strength_of(const CaseList& list, const StrengthOptions& options) {
  // Most are dead after a few lines, and the living alone are judged on the next.
  constexpr std::size_t kBatch = 16;
  std::vector<Suspect> living = suspects_of(list, options.only);
  ListStrength out{.name = list.name, .lines = list.cases.size(), .saboteurs = living.size()};
  for (std::size_t begin = 0; begin < list.cases.size() && !living.empty() && !interrupted(); begin += kBatch) {
    const auto first = list.cases.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<Case> batch(first,
                                  first + static_cast<std::ptrdiff_t>(std::min(kBatch, list.cases.size() - begin)));
    std::vector<const backgauge_implementation*> implementations;
    for (const Suspect& each : living) implementations.push_back(each.implementation);
    const Grid grid = judge_grid(batch, implementations, {.workers = options.workers, .scale = 0, .progress = {}});
    std::vector<Suspect> left;
    for (std::size_t k = 0; k < living.size(); ++k) {
      if (std::ranges::none_of(grid, [k](const std::vector<Judged>& row) { return row[k].killed(); })) {
        left.push_back(living[k]);
      }
    }
    living = std::move(left);
    if (options.progress) options.progress(list.name, begin, list.cases.size());
  }
  for (const Suspect& each : living) out.living.push_back(each.variant->id);
  return out;
}

}  // namespace

std::vector<ListStrength> strength_of(const std::vector<CaseList>& lists, const StrengthOptions& options) {
  std::vector<ListStrength> out;
  for (const CaseList& list : lists) {
    ListStrength strength = strength_of(list, options);
    if (interrupted()) break;
    out.push_back(std::move(strength));
  }
  return out;
}

std::string strength_text(const std::vector<ListStrength>& lists) {
  std::string out;
  for (const ListStrength& list : lists) {
    out += fmt::format("{:<28} {:>4} lines refuse {} of {} saboteurs\n", list.name, list.lines,
                       list.saboteurs - list.living.size(), list.saboteurs);
    if (!list.living.empty()) out += fmt::format("  not refused: {}\n", fmt::join(list.living, ", "));
  }
  return out;
}

}  // namespace backgauge::cli
