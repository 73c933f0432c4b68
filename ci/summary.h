// SPDX-License-Identifier: Apache-2.0
// What a run amounts to: counts, worst ratios per op and dtype, what was covered, and the exit code.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ci/repeating.h"
#include "properties/campaign/walk.h"
#include "properties/case/case.h"
#include "properties/judge/record.h"

namespace backgauge::cli {

// "dicfo  [3, 28]  worst error/allowed 0.301  resolution 1.1e+06", in columns.
std::string tensor_line(const TensorReport& tensor);

class Summary {
 public:
  void add(const Case& c, const Record& record);
  void add_producer(const Case& c, const Record& record);
  void add_walk(Walk walked) { walk_ = std::move(walked); }
  void add_checks(const std::vector<Record>& failed);  // counts those that the harness could not make
  void add_determinism(std::vector<OpDeterminism> measured) { determinism_ = std::move(measured); }

  // The table of ops and dtypes; with `coverage` how many cases had each setting; the line of totals.
  std::string text(bool coverage) const;

  // As properties/README.md has it. `complete`: no planned case was left out.
  int exit_code(bool strict, bool complete) const;
  std::size_t cases() const;
  std::size_t failed() const { return count(Status::kFailed) + count(Status::kBroken); }

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
    Count golden, generated, malformed, producers;
    Worst worst, producer_worst;
  };
  std::size_t count(Status status) const { return counts_[static_cast<std::size_t>(status)]; }

  std::map<std::pair<backgauge_op, backgauge_dtype>, Row> rows_;
  std::vector<Case> cases_;              // judged: neither SKIPPED nor BROKEN
  std::array<std::size_t, 5> counts_{};  // per Status
  std::size_t checks_failed_ = 0, broken_checks_ = 0;
  std::string check_troubles_;
  std::size_t broken_harness_ = 0, producers_failed_ = 0, redrawn_ = 0, by_identity_ = 0;
  std::map<std::string, std::size_t> skip_reasons_;
  std::optional<Walk> walk_;
  std::vector<OpDeterminism> determinism_;
  Worst worst_;
};

}  // namespace backgauge::cli
