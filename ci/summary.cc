// SPDX-License-Identifier: Apache-2.0
#include "ci/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ci/command.h"
#include "properties/campaign/coverage.h"

namespace backgauge::cli {
namespace {

bool is_harness(const Verdict& verdict) {
  return verdict.status == Status::kBroken && verdict.reason.rfind("harness", 0) == 0;
}

std::string coverage_text(const std::vector<Case>& cases) {
  std::string out = "\ncases judged, per setting\n";
  for (const OpSpec& spec : op_specs()) {
    if (std::ranges::find(cases, spec.op, &Case::op) == cases.end()) continue;
    out += fmt::format("  {}\n", spec.word);
    for (const Axis& axis : coverage(spec.op, cases)) {
      out += fmt::format("    {:<11}", axis.name);
      for (const auto& [value, judged] : axis.values) out += fmt::format("  {} {}", value, judged);
      out += "\n";
    }
    const PairCoverage pairs = pair_coverage(spec.op, cases);
    out += fmt::format("    {:<11}  {} of {} pairs of two settings{}\n", "pairs", pairs.covered, pairs.legal,
                       pairs.missing.empty() ? "" : ", not " + pairs.missing);
  }
  return out;
}

}  // namespace

void Summary::Worst::add(const Verdict& verdict) {
  for (const TensorReport& report : verdict.tensors) {
    if (!report.vacuous && report.max_ratio >= ratio) {
      ratio = report.max_ratio;
      tensor = report.name;
    }
  }
}

std::string Summary::Count::text() const { return all == 0 ? std::string("-") : fmt::format("{}/{}", passed, all); }

std::string Summary::Worst::text() const { return tensor.empty() ? "-" : fmt::format("{:.3f} {}", ratio, tensor); }

void Summary::add(const Case& c, const Record& record) {
  redrawn_ += record.redraws > 0;
  by_identity_ += record.verdict.note.starts_with(kMasksNotTold);
  const bool passed = record.verdict.status == Status::kPassed;
  Row& row = rows_[{c.op, c.dtype}];
  Count& kind = c.data == DataClass::kGolden      ? row.golden
                : c.data == DataClass::kMalformed ? row.malformed
                                                  : row.generated;
  ++kind.all;
  kind.passed += passed;
  row.worst.add(record.verdict);
  if (passed) worst_.add(record.verdict);
  ++counts_[static_cast<std::size_t>(record.verdict.status)];
  broken_harness_ += is_harness(record.verdict);
  if (record.verdict.status == Status::kSkipped) {
    ++skip_reasons_[record.verdict.reason];
  } else if (record.verdict.status != Status::kBroken && c.data != DataClass::kMalformed) {
    cases_.push_back(c);
  }
}

void Summary::add_producer(const Case& c, const Record& record) {
  Row& row = rows_[{c.op, c.dtype}];
  ++row.producers.all;
  row.producers.passed += record.verdict.status == Status::kPassed;
  row.producer_worst.add(record.verdict);
  producers_failed_ += record.verdict.status == Status::kFailed || record.verdict.status == Status::kBroken;
}

void Summary::add_checks(const std::vector<Record>& failed) {
  for (const Record& record : failed) {
    checks_failed_ += record.verdict.status == Status::kFailed;
    broken_checks_ += is_harness(record.verdict);
    if (is_harness(record.verdict)) check_troubles_ += fmt::format("{}: {}\n", record.id, record.verdict.reason);
  }
}

std::string tensor_line(const TensorReport& tensor) {
  const std::string wrong = tensor.bad == 0 ? "" : fmt::format("  {} of {} wrong", tensor.bad, tensor.elements);
  return fmt::format("{:<18} {:<14} worst error/allowed {:<9.3g} resolution {:.2g}{}", tensor.name,
                     to_string(tensor.shape), tensor.max_ratio, tensor.resolution, wrong);
}

std::size_t Summary::cases() const { return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0}); }

std::string Summary::text(bool with_coverage) const {
  constexpr const char* kLine = "{:<21} {:<5} {:>9} {:>11} {:>10}  {:<26} {}\n";
  std::string out = fmt::format(fmt::runtime(kLine), "op", "dtype", "golden", "generated", "malformed",
                                "worst error/allowed", "stored goldens against the oracle");
  for (const auto& [key, row] : rows_) {
    const std::string producers =
        row.producers.all == 0 ? "-"
                               : fmt::format("{} passed, worst {}", row.producers.text(), row.producer_worst.text());
    out += fmt::format(fmt::runtime(kLine), find_op(key.first)->word, dtype_word(key.second), row.golden.text(),
                       row.generated.text(), row.malformed.text(), row.worst.text(), producers);
  }
  if (with_coverage) out += coverage_text(cases_);
  if (walk_) {
    out += fmt::format("\nstate walk: {} calls, {} ordered pairs of {} configurations{}\n", walk_->calls, walk_->pairs,
                       walk_->configurations, walk_->failure.empty() ? "" : ": FAILED");
    if (!walk_->failure.empty()) out += fmt::format("  {}\n", walk_->failure);
    if (walk_->failed) out += fmt::format("  in   {}\n", to_string(*walk_->failed));
    if (walk_->before) out += fmt::format("  after {}\n", to_string(*walk_->before));
  }
  if (!determinism_.empty()) out += "\ndeterminism, measured\n";
  for (const OpDeterminism& op : determinism_) out += op.text();
  out += check_troubles_;
  for (const auto& [reason, skipped] : skip_reasons_) out += fmt::format("skipped {}: {}\n", skipped, reason);
  if (by_identity_ > 0) {
    out += fmt::format("judged by the adjoint identity {}: their dropout masks are not told\n", by_identity_);
  }
  if (redrawn_ > 0)
    out += fmt::format("drawn again {}: with their first values no bound could prove anything\n", redrawn_);
  out += fmt::format("\nsummary: {} passed, {} failed, {} mistrusted, {} skipped, {} broken; worst passing ratio {}\n",
                     count(Status::kPassed), count(Status::kFailed), count(Status::kMistrusted),
                     count(Status::kSkipped), count(Status::kBroken), worst_.text());
  if (producers_failed_ > 0) out += fmt::format("{} stored goldens contradict the oracle\n", producers_failed_);
  return out;
}

int Summary::exit_code(bool strict, bool complete) const {
  if (broken_harness_ > 0 || broken_checks_ > 0 || producers_failed_ > 0) return kSelfCheck;
  if (failed() > 0 || checks_failed_ > 0) return kFailed;
  if (strict && (count(Status::kMistrusted) > 0 || cases_.empty() || !complete)) return kInconclusive;
  return kGood;
}

}  // namespace backgauge::cli
