// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/plan/redraw.h"
#include "properties/campaign/measure/coverage.h"

namespace backgauge::cli {
namespace {

bool is_harness(const Verdict& verdict) {
  return verdict.status == Status::kBroken && verdict.reason.rfind("harness", 0) == 0;
}

// "318 of 318 pairs of settings", and which are missing.
std::string pairs_text(backgauge_op op, const std::vector<Case>& judged, std::vector<Case> skipped) {
  const PairCoverage covered = pair_coverage(op, judged);
  std::string text = fmt::format("{} of {} pairs of settings", covered.covered, covered.legal);
  if (covered.missing.empty()) return text;
  skipped.insert(skipped.end(), judged.begin(), judged.end());
  const std::int64_t in_skipped = pair_coverage(op, skipped).covered - covered.covered;
  std::string example = covered.missing;
  if (const std::size_t gap = example.find(' '); gap != example.npos) example.replace(gap, 1, " with ");
  text += fmt::format("; {} only in skipped cases, {} in no case; for example, no judged case has {}", in_skipped,
                      covered.legal - covered.covered - in_skipped, example);
  return text;
}

// One line, and a second one if it is not bitwise.
std::string text_of(const OpDeterminism& op) {
  std::string out = fmt::format("  {:<21} {:<21} claimed {}, {} cases, {} runs{}\n", find_op(op.op)->word,
                                determinism_word(op.measured), determinism_word(std::int32_t{op.claimed}), op.cases,
                                op.runs, op.overclaimed() ? ": FAILED" : "");
  if (!op.difference.empty()) out += "    " + op.difference + "\n";
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
  const Status status = record.verdict.status;
  ops_.insert(c.op);
  redrawn_ += record.redraws > 0;
  of_other_class_ += record.redraws > kMostRedrawsOfClass && record.verdict.status != Status::kMistrusted;
  by_identity_ += record.verdict.note.starts_with(kMasksUnavailable);
  with_state_ += record.verdict.note.starts_with(kMasksWithState);
  counts_.add(record);
  if (record.waived) add_waived(record);
  broken_harness_ += is_harness(record.verdict);
  const bool well_formed = c.data != DataProfile::kMalformed;
  if (status == Status::kSkipped) {
    ++skip_reasons_[record.verdict.reason];
    if (well_formed) skipped_cases_.push_back(c);
    return;
  }
  if (status == Status::kMistrusted && first_mistrusted_.empty()) {
    first_mistrusted_ = record.id + ": " + record.verdict.reason;
  }
  if (status != Status::kBroken && well_formed) cases_.push_back(c);
  const bool passed = status == Status::kPassed;
  Row& row = rows_[{c.op, c.dtype}];
  Count& kind = c.data == DataProfile::kGolden ? row.golden : well_formed ? row.generated : row.malformed;
  ++kind.all;
  kind.passed += passed;
  row.worst.add(record.verdict);
  if (passed) worst_.add(record.verdict);
}

void Summary::add_waived(const Record& record) {
  const std::string text = record.op + " " + failure_of(record.verdict);
  auto found = std::ranges::find_if(waived_, [&](const WaivedKind& each) {
    return each.kind == text && each.waived.reason == record.waived->reason;
  });
  if (found == waived_.end()) found = waived_.insert(found, {text, *record.waived, 0});
  ++found->records;
}

void Summary::add_producer(const Record& record) {
  ++producers_.all;
  producers_.passed += record.verdict.status == Status::kPassed;
  producer_worst_.add(record.verdict);
  producers_failed_ += record.verdict.status == Status::kFailed || record.verdict.status == Status::kBroken;
}

void Summary::add_checks(const std::vector<Record>& failed) {
  for (const Record& record : failed) {
    if (record.waived) {
      counts_.add(record);
      add_waived(record);
      continue;
    }
    const bool broken = record.verdict.status == Status::kBroken && !is_harness(record.verdict);
    checks_failed_ += record.verdict.status == Status::kFailed || broken;
    broken_checks_ += is_harness(record.verdict);
    if (is_harness(record.verdict)) check_troubles_ += fmt::format("{}: {}\n", record.id, record.verdict.reason);
  }
}

std::string tensor_line(const TensorReport& tensor) {
  const std::string wrong = tensor.bad == 0 ? "" : fmt::format("  {} of {} wrong", tensor.bad, tensor.elements);
  // Elements that were never written have no error.
  const std::string ratio = tensor.unwritten + tensor.added == tensor.elements && tensor.bad > 0
                                ? "-"
                                : fmt::format("{:.3g}", tensor.max_ratio);
  return fmt::format("{:<18} {:<14} worst error/allowed {:<9} resolution {:.2g}{}", tensor.name,
                     to_string(tensor.shape), ratio, tensor.resolution, wrong);
}

std::string Summary::table() const {
  if (rows_.empty()) return "";
  constexpr const char* kLine = "{:<21} {:<5} {:>9} {:>11} {:>10}  {}\n";
  std::string out =
      fmt::format(fmt::runtime(kLine), "op", "dtype", "golden", "generated", "malformed", "worst error/allowed");
  for (const auto& [key, row] : rows_) {
    out += fmt::format(fmt::runtime(kLine), find_op(key.first)->word, dtype_word(key.second), row.golden.text(),
                       row.generated.text(), row.malformed.text(), row.worst.text());
  }
  return out;
}

Terms Summary::terms() const {
  std::vector<std::string> ops;
  for (const backgauge_op op : ops_) ops.emplace_back(spec_of(op).word);
  return terms_about(terms_, ops);
}

std::vector<std::pair<std::string, std::string>> Summary::pairs() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const OpSpec& spec : op_specs()) {
    if (std::ranges::find(cases_, spec.op, &Case::op) == cases_.end()) continue;
    out.emplace_back(spec.word, pairs_text(spec.op, cases_, skipped_cases_));
  }
  return out;
}

std::string Summary::coverage(bool verbose) const {
  std::string out = verbose ? "\njudged cases per setting\n" : "\ncoverage of the judged cases\n";
  for (const OpSpec& spec : op_specs()) {
    if (std::ranges::find(cases_, spec.op, &Case::op) == cases_.end()) continue;
    const std::string pairs = pairs_text(spec.op, cases_, skipped_cases_);
    if (!verbose) {
      out += fmt::format("  {:<21} {}\n", spec.word, pairs);
      continue;
    }
    out += fmt::format("  {}\n", spec.word);
    for (const Axis& axis : backgauge::coverage(spec.op, cases_)) {
      out += fmt::format("    {:<11}", axis.name);
      for (const auto& [value, judged] : axis.values) out += fmt::format("  {} {}", value, judged);
      out += "\n";
    }
    out += fmt::format("    {:<11}  {}\n", "pairs", pairs);
  }
  return out;
}

std::string Summary::behaviour(bool all) const {
  std::string out;
  if (walk_ && (all || keeps_state())) {
    out += fmt::format("\nstate walk: {} calls, {} ordered pairs of {} configurations{}\n", walk_->calls, walk_->pairs,
                       walk_->configurations, walk_->failure.empty() ? "" : ": FAILED");
    if (!walk_->failure.empty()) out += fmt::format("  {}\n", walk_->failure);
    if (walk_->failed) out += fmt::format("  in   {}\n", to_string(*walk_->failed));
    if (walk_->before) out += fmt::format("  after {}\n", to_string(*walk_->before));
  }
  if (crowd_ && crowd_->sets > 0 && (all || crowd_->worst.status != Status::kPassed)) {
    const Verdict& worst = crowd_->worst;
    out += fmt::format("\nconcurrent calls: {} of cases, {} calls, {} of them overlapping{}\n",
                       counted(static_cast<std::size_t>(crowd_->sets), "set"), crowd_->calls, crowd_->overlapped,
                       worst.status == Status::kPassed ? "" : fmt::format(": {}", verdict_word(worst.status)));
    if (worst.status != Status::kPassed) out += fmt::format("  {}\n  {}\n", worst.reason, at_once_words(crowd_->cases));
  }
  if (threads_ && (!threads_->failure.empty() || (all && (threads_->calls > 0 || !threads_->unmeasured.empty())))) {
    out += fmt::format("\nthreads: {} calls measured, at most {:.2f} busy threads per thread allowed{}\n",
                       threads_->calls, threads_->worst, threads_->failure.empty() ? "" : ": FAILED");
    if (!threads_->failure.empty()) out += fmt::format("  {}\n", threads_->failure);
    for (const std::string& why : threads_->unmeasured) out += fmt::format("  not measured: {}\n", why);
  }
  if (memory_ && (!memory_->failure.empty() || (all && (memory_->calls > 0 || !memory_->unmeasured.empty())))) {
    const std::string found = memory_->failure.empty() ? ", it does not grow with them" : ": FAILED";
    out += fmt::format("\nmemory: {} calls measured{}\n", memory_->calls, found);
    if (!memory_->failure.empty()) out += fmt::format("  {}\n", memory_->failure);
    for (const std::string& why : memory_->unmeasured) out += fmt::format("  not measured: {}\n", why);
  }
  std::string measured;
  for (const OpDeterminism& op : determinism_) {
    if (all || op.overclaimed()) measured += text_of(op);
  }
  if (!measured.empty()) out += "\nmeasured determinism\n" + measured;
  return out + check_troubles_;
}

std::string Summary::left_out() const {
  constexpr std::size_t kMostReasons = 6;  // an op has five settings that may be unclaimed, and the dtype
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (const auto& [reason, skipped] : skip_reasons_) reasons.emplace_back(skipped, reason);
  std::ranges::stable_sort(reasons, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  std::size_t others = 0;
  for (std::size_t k = 0; k < reasons.size(); ++k) {
    if (k < kMostReasons) out += fmt::format("skipped {}: {}\n", reasons[k].first, reasons[k].second);
    if (k >= kMostReasons) others += reasons[k].first;
  }
  if (others > 0) out += fmt::format("skipped {}: {} other reasons\n", others, reasons.size() - kMostReasons);
  for (const WaivedKind& each : waived_) {
    out += fmt::format("WAIVED {} until {}: {}: {} ({})\n", counted(each.records, "failure"), each.waived.expires,
                       each.kind, each.waived.reason, each.waived.url);
  }
  if (!first_mistrusted_.empty()) {
    out += fmt::format("mistrusted {}; the first: {}\n", counts_[Status::kMistrusted], first_mistrusted_);
  }
  if (by_identity_ > 0) {
    out += fmt::format("{} judged by the adjoint identity: no dropout masks are available\n",
                       counted(by_identity_, "case"));
  }
  if (with_state_ > 0) {
    out += fmt::format("{} judged with the mask of each call: masks depend on earlier calls, as claimed\n",
                       counted(with_state_, "case"));
  }
  if (redrawn_ > 0) {
    out +=
        fmt::format("{} redrawn: the first draw was inconclusive{}\n", counted(redrawn_, "case"),
                    of_other_class_ == 0 ? "" : fmt::format("; {} of them with another data profile", of_other_class_));
  }
  return out;
}

std::string Summary::nothing_proven() const {
  if (counts_[Status::kMistrusted] > 0) {
    return fmt::format("nothing was proven: every case {} MISTRUSTED\n",
                       counts_[Status::kSkipped] > 0 ? "was skipped or is" : "is");
  }
  return counts_.waived == 0 ? "nothing was judged: every case was skipped\n"
                             : "nothing passed: every case was skipped or is waived\n";
}

std::string Summary::text(const Detail& detail) const {
  const bool all = detail.verbose || failed() == 0;
  std::string out = table();
  out += terms_lines(terms());
  if (producers_.all > 0 && all) {
    const std::size_t mistrusted = producers_.all - producers_.passed - producers_failed_;
    out += fmt::format("recorded golden outputs that agree with the oracle: {}{}, worst error/allowed {}\n",
                       producers_.text(), mistrusted == 0 ? "" : fmt::format(" ({} MISTRUSTED)", mistrusted),
                       producer_worst_.text());
  }
  if (detail.tier && all) out += coverage(detail.verbose);
  const std::string what = behaviour(all), why = left_out();
  out += what;
  if (!why.empty()) out += (out.empty() ? "" : "\n") + why;
  const std::string waived = counts_.waived == 0 ? "" : fmt::format(" {} waived,", counts_.waived);
  out +=
      fmt::format("{}summary: {} passed, {} failed,{} {} mistrusted, {} skipped, {} broken; worst passing ratio {}\n",
                  out.empty() ? "" : "\n", counts_[Status::kPassed], counts_[Status::kFailed], waived,
                  counts_[Status::kMistrusted], counts_[Status::kSkipped], counts_[Status::kBroken], worst_.text());
  if (proven() == 0 && failed() == 0) out += nothing_proven();
  if (producers_failed_ > 0)
    out += fmt::format("{} recorded golden outputs contradict the oracle\n", producers_failed_);
  return out;
}

int Summary::exit_code(bool strict, bool complete, bool part) const {
  if (broken_harness_ > 0 || broken_checks_ > 0 || producers_failed_ > 0) return kSelfCheck;
  if (failed() > 0 || checks_failed_ > 0) return kFailed;
  if (proven() == 0 && !part) return kInconclusive;
  const bool mistrusted = counts_[Status::kMistrusted] > 0 || (crowd_ && crowd_->worst.status == Status::kMistrusted);
  if (strict && (mistrusted || !complete)) return kInconclusive;
  return kGood;
}

}  // namespace backgauge::cli
