// SPDX-License-Identifier: Apache-2.0
#include "properties/explain/term_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "properties/explain/hint.h"
#include "reference/flatten.h"

namespace backgauge {
namespace {

using Terms = std::span<const NamedTerms::Term>;

// Outputs that are zero by contract, or end in such rows, are shorter than wanted.
OutputNumbers evaluated_with(const Problem& problem, NamedTerms::OnSum on_sum) {
  return flatten(NamedTerms({}, problem, std::move(on_sum)), problem,
                 [](const Named& part, Index k) { return part.b.v.data()[k]; });
}

std::set<std::string> names_of_terms(const Problem& problem) {
  std::set<std::string> names;
  evaluated_with(problem, [&](Terms terms, const auto& /*sum*/) {
    for (const NamedTerms::Term& term : terms) names.insert(term.name);
  });
  return names;
}

OutputNumbers with_wrong_term(const Problem& problem, const std::string& name, double factor) {
  return evaluated_with(problem, [&](Terms terms, Bounded<double>& sum) {
    for (const NamedTerms::Term& term : terms) {
      if (term.name == name) sum.v += (factor - 1) * term.values;
    }
  });
}

// Combines all outputs; digits are the fewest of any output that has an error.
Explained explain_all(const std::vector<Wanted>& wanted, const std::vector<Values64>& got, OutputNumbers values) {
  Explained out{.met = true, .conclusive = false, .digits = kMostDigits};
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    values[t].resize(wanted[t].value.size());
    const Explained one = explain(wanted[t], got[t], values[t]);
    if (!one.met) return {};
    out.conclusive = out.conclusive || one.conclusive;
    if (one.conclusive) out.digits = std::min(out.digits, one.digits);
  }
  return out;
}

}  // namespace

bool is_quick(const Problem& problem) {
  const Extents& e = problem.extents;
  // Hundreds of evaluations with so many products take seconds. A cell, whose T is 0, has no products of matrices.
  constexpr std::int64_t kMostProducts = 1 << 20;
  return e.T * e.B * e.L * e.D * e.H * (e.H + e.I) <= kMostProducts;
}

std::string term_hint(const Problem& problem, const std::vector<Wanted>& wanted, const std::vector<Values64>& got) {
  Matches matches;
  for (const std::string& name : names_of_terms(problem)) {
    for (const WrongFactor& wrong : kWrongFactors) {
      matches.add(fmt::format("the term '{}' {}", name, wrong.text),
                  explain_all(wanted, got, with_wrong_term(problem, name, wrong.factor)));
    }
  }
  return matches.text();
}

}  // namespace backgauge
