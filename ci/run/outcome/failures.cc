// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/failures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "ci/options/cli_options.h"
#include "properties/campaign/shrink/shrink.h"
#include "properties/judge/compare/verdict_text.h"

namespace backgauge::cli {
namespace {

std::string text_of(const FailureKind& kind, const ShownFailure& shown) {
  return fmt::format("{}: {}{}\n{}  repro: {}\n", kind.text, counted(kind.cases, kind.of_harness ? "case" : "failure"),
                     shown.effort.empty() ? "" : ", " + shown.effort, brief_text(shown.record.verdict),
                     shown.record.repro());
}

std::string text_of_more(std::span<const FailureKind> kinds) {
  constexpr std::size_t kMostNamed = 5;  // five names fill three lines of a terminal
  std::size_t cases = 0;
  std::vector<std::string> names;
  for (const FailureKind& kind : kinds) {
    cases += kind.cases;
    if (names.size() < kMostNamed) names.push_back(kind.text);
  }
  return fmt::format("{} of failure, {}: {}{}\n", counted(kinds.size(), "more kind"), counted(cases, "case"),
                     fmt::join(names, "; "), kinds.size() > kMostNamed ? "; ..." : "");
}

}  // namespace

void FailureKinds::add(std::size_t index, const Record& record) {
  std::string failure = failure_of(record.verdict);
  if (record.waived) return;
  const bool of_harness = failure.empty() && record.verdict.status == Status::kBroken;
  if (failure.empty() && !of_harness) return;
  if (of_harness) {
    failure = record.verdict.reason.starts_with(kNotRun) ? "not run" : "BROKEN by the harness or the machine";
  }
  const std::string text = record.op + " " + failure;
  auto kind = std::ranges::find(kinds_, text, &FailureKind::text);
  if (kind == kinds_.end()) kind = kinds_.insert(kind, {text, index, 0, of_harness});
  ++kind->cases;
}

void print_failures(const FailureKinds& kinds, std::size_t most,
                    const std::function<ShownFailure(const FailureKind&)>& look, const std::string& impl_given) {
  std::vector<FailureKind> sorted = kinds.in_order();
  std::ranges::stable_sort(sorted, std::greater(), &FailureKind::cases);
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    ShownFailure shown = look(sorted[k]);
    shown.record.impl_given = impl_given;
    if (k < most) fmt::print("{}\n", text_of(sorted[k], shown));
  }
  if (sorted.size() > most) fmt::print("{}\n", text_of_more(std::span(sorted).subspan(most)));
}

}  // namespace backgauge::cli
