// SPDX-License-Identifier: Apache-2.0
// The checks of an implementation as a whole: state walk, determinism, concurrent calls, threads. Those that failed
// become records, which have neither a case nor an index in the plan.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ci/run/determinism_check.h"
#include "properties/campaign/crowd.h"
#include "properties/campaign/thread_counts.h"
#include "properties/campaign/walk.h"
#include "properties/judge/record/record.h"

namespace backgauge::cli {

class Checks {
 public:
  explicit Checks(const Runner& runner) : runner_(runner) {}

  void add(const Walk& walked);
  void add(const std::vector<OpDeterminism>& measured);
  void add(const Crowd& judged);
  void add(const ThreadCounts& counted);

  // Runs a check. An exception counts as an error of the harness; the other checks and the run continue.
  void attempt(const std::string& what, const std::function<void()>& check);

  const std::vector<Record>& failed() const { return failed_; }

 private:
  void add(const std::string& what, std::string_view group, Verdict verdict);

  const Runner& runner_;
  std::vector<Record> failed_;
};

}  // namespace backgauge::cli
