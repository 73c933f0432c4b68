// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/measure/significance.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "properties/case/draw/inputs.h"
#include "reference/arithmetic/named_terms.h"
#include "reference/contract/storage.h"
#include "reference/flatten.h"

namespace backgauge {
namespace {

// For an implementation that computes half in float and keeps its operands: bounds.md 2.
RoundingModel strict_model(backgauge_dtype dtype) {
  const FloatFormat compute = float_format(is_narrow(dtype) ? BACKGAUGE_FLOAT32 : dtype);
  RoundingModel model;
  model.unit_roundoff = compute.unit_roundoff;
  model.least_normal = compute.least_normal;
  return model;
}

// Enough for every term of every mode to occur: a mode is in one case of four, a term of two settings in one of
// sixteen.
constexpr int kCasesThatShowAllTerms = 300;

}  // namespace

std::map<std::string, double> term_significance(const Problem& problem) {
  std::map<std::string, double> significance;
  const auto compare = [&](std::span<const NamedTerms::Term> terms, const Bounded<double>& sum) {
    for (const NamedTerms::Term& term : terms) {
      double& largest = significance[term.name];
      for (Index k = 0; k < sum.size(); ++k) {
        const double size = std::fabs(term.values.data()[k]), e = sum.e.data()[k];
        if (size > 0 && std::isfinite(size)) largest = std::max(largest, size / e);
      }
    }
  };
  (void)evaluate(NamedTerms(strict_model(problem.dtype), problem, compare), problem);
  return significance;
}

int TermCoverage::shown() const {
  return static_cast<int>(std::ranges::count_if(terms, [](const Term& term) { return term.cases >= kEnoughCases; }));
}

const TermCoverage::Term* TermCoverage::weakest() const {
  const auto least = std::ranges::min_element(terms, {}, &Term::cases);
  return least == terms.end() ? nullptr : &*least;
}

TermCoverage term_coverage(backgauge_op op, backgauge_dtype dtype, const std::vector<Case>& cases) {
  TermCoverage out;
  std::map<std::string, int> counts;
  const auto enough = [](const auto& term) { return term.second >= kEnoughCases; };
  for (const Case& c : cases) {
    if (c.op != op || c.dtype != dtype) continue;
    // Cases without elements or with values that are not finite reveal nothing; large ones nothing that small ones do
    // not.
    if (c.B == 0 || c.I == 0 || c.T * c.B > 1000) continue;
    if (out.evaluated >= kCasesThatShowAllTerms && std::ranges::all_of(counts, enough)) break;
    Filled filled = fill(c);
    if (!filled.error.empty() || filled.facts.nonfinite) continue;
    draw_dropout_masks(c, filled.problem);
    ++out.evaluated;
    for (const auto& [name, largest] : term_significance(filled.problem)) counts[name] += largest >= kSignificant;
  }
  for (const auto& [name, count] : counts) out.terms.push_back({name, count});
  return out;
}

}  // namespace backgauge
