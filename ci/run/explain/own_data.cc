// SPDX-License-Identifier: Apache-2.0
#include "ci/run/explain/own_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "properties/judge/compare/compare.h"

namespace backgauge::cli {
namespace {

std::string what_to_declare(const ExpectedOutputs& expected, const Problem& problem, const Declared& declared) {
  if (expected.facts().nonfinite)
    return "there are inputs that are not finite, so that only the rigorous bound applies";
  const std::string why =
      expected.rounding_errors() == RoundingErrors::kIndependent ? "" : expected.why_rigorous(problem, declared);
  if (why.empty()) {
    return "rounding errors count as independent already, and 8 standard deviations of them are about as large as the "
           "values: fewer steps, smaller weights or a wider dtype prove more";
  }
  return fmt::format(
      "rounding errors do not count as independent, because {}: if they are independent all the same, declare "
      "independent_roundings (--independent-roundings of `backgauge oracle`), which allows 8 standard deviations of "
      "their sum and not the largest sum",
      why);
}

}  // namespace

void explain_own(const ExpectedOutputs& expected, const Problem& problem, const Declared& declared, Verdict& verdict) {
  if (verdict.status != Status::kMistrusted) return;
  verdict.note += (verdict.note.empty() ? "" : "; ") + what_to_declare(expected, problem, declared);
}

std::string unproven(const ExpectedOutputs& expected, const Problem& problem, const std::vector<Wanted>& wanted,
                     const Declared& declared, bool own) {
  std::vector<std::string> names;
  for (const Wanted& each : wanted) {
    if (is_vacuous(resolution(each), problem.dtype, declared)) names.push_back(each.name);
  }
  if (names.empty()) return "";
  return fmt::format("the allowed errors of {} prove nothing{}", fmt::join(names, ", "),
                     own ? "; " + what_to_declare(expected, problem, declared) : "");
}

}  // namespace backgauge::cli
