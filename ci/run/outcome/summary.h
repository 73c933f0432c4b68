// SPDX-License-Identifier: Apache-2.0
// The summary of a run: counts, worst ratios per op and dtype, coverage, and the exit code.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ci/run/implementation/terms.h"
#include "ci/run/outcome/verdict_matrix.h"
#include "properties/campaign/calls/crowd.h"
#include "properties/campaign/calls/memory_growths.h"
#include "properties/campaign/calls/thread_counts.h"
#include "properties/campaign/calls/walk.h"
#include "properties/case/line/case.h"
#include "properties/judge/determinism.h"
#include "properties/judge/record/record.h"

namespace backgauge::cli {

// "dicfo  [3, 28]  worst error/allowed 0.301  resolution 1.1e+06", in columns.
std::string tensor_line(const TensorReport& tensor);

// The determinism of an implementation of one op: what it claims, and what was measured (determinism_check.h).
struct OpDeterminism {
  backgauge_op op;
  backgauge_determinism claimed;
  Determinism measured = Determinism::kBitwise;  // the lowest level over its cases
  std::string difference;                        // the difference that decided, with its case line; "" if bitwise
  int cases = 0, runs = 0;

  bool overclaimed() const { return overclaims(claimed, measured); }
};

class Summary {
 public:
  void set_terms(Terms terms) { terms_ = std::move(terms); }
  void add(const Case& c, const Record& record);
  void add_producer(const Record& record);
  void add_walk(Walk walked) { walk_ = std::move(walked); }
  void add_threads(ThreadCounts counted) { threads_ = std::move(counted); }
  void add_memory(MemoryGrowths measured) { memory_ = std::move(measured); }
  void add_crowd(Crowd judged) { crowd_ = std::move(judged); }
  void add_checks(const std::vector<Record>& failed);  // counts checks that the harness could not make
  void add_determinism(std::vector<OpDeterminism> measured) { determinism_ = std::move(measured); }

  struct Detail {
    bool tier = false;     // the cases are those of a tier, so coverage is printed
    bool verbose = false;  // print everything, even if something failed
  };
  // The table of ops and dtypes that were judged and the terms of their verdicts, what was left out and why, and the
  // line of totals. If something failed, details of what passed are left out.
  std::string text(const Detail& detail) const;

  // "318 of 318 pairs of settings" for each op that was judged, by its word.
  std::vector<std::pair<std::string, std::string>> pairs() const;
  // Of the ops that had cases.
  Terms terms() const;
  const std::vector<OpDeterminism>& determinism() const { return determinism_; }
  // State walk, concurrent calls, threads, memory and determinism; unless `all`, only those with a failure.
  std::string behaviour(bool all) const;

  // The exit code of properties/README.md. `complete`: no planned case was left out; `part`: other shards have the
  // rest.
  int exit_code(bool strict, bool complete, bool part = false) const;
  std::size_t failed() const { return counts_.failed(); }

 private:
  struct Worst {
    double ratio = 0;
    std::string tensor;
    void add(const Verdict& verdict);
    std::string text() const;
  };
  struct Count {
    std::size_t passed = 0, all = 0;
    std::string text() const;
  };
  struct Row {
    Count golden, generated, malformed;
    Worst worst;
  };
  // Failures of one kind that one waiver covers.
  struct WaivedKind {
    std::string kind;
    Waived waived;
    std::size_t records = 0;
  };
  void add_waived(const Record& record);
  // Cases whose verdict says something about the implementation.
  std::size_t proven() const { return counts_[Status::kPassed] + counts_[Status::kFailed]; }
  bool keeps_state() const { return walk_ && !walk_->failure.empty(); }
  std::string table() const;
  std::string coverage(bool verbose) const;
  std::string left_out() const;
  std::string nothing_proven() const;

  Terms terms_;
  std::set<backgauge_op> ops_;  // of all cases
  std::map<std::pair<backgauge_op, backgauge_dtype>, Row> rows_;
  std::vector<Case> cases_, skipped_cases_;  // cases_: judged, neither SKIPPED nor BROKEN; malformed calls in neither
  VerdictCounts counts_;                     // waived: also checks
  std::vector<WaivedKind> waived_;
  std::size_t checks_failed_ = 0, broken_checks_ = 0;
  std::string check_troubles_;
  std::size_t broken_harness_ = 0, producers_failed_ = 0, redrawn_ = 0, of_other_class_ = 0, by_identity_ = 0,
              with_state_ = 0;
  std::map<std::string, std::size_t> skip_reasons_;
  std::string first_mistrusted_;  // its line and its reason
  Count producers_;
  std::optional<Walk> walk_;
  std::optional<Crowd> crowd_;
  std::optional<ThreadCounts> threads_;
  std::optional<MemoryGrowths> memory_;
  std::vector<OpDeterminism> determinism_;
  Worst worst_, producer_worst_;
};

}  // namespace backgauge::cli
