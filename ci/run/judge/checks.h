// SPDX-License-Identifier: Apache-2.0
// The checks of an implementation as a whole: state walk, determinism, concurrent calls, threads, memory. Those that
// failed become records, which have neither a case nor an index in the plan.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ci/run/outcome/summary.h"
#include "properties/campaign/calls/crowd.h"
#include "properties/campaign/calls/memory_growths.h"
#include "properties/campaign/calls/thread_counts.h"
#include "properties/campaign/calls/walk.h"
#include "properties/judge/record/record.h"
#include "properties/judge/runner/runner.h"

namespace backgauge::cli {

// What records and repro call them.
inline constexpr std::string_view kCallsAtOnce = "calls at once", kThreads = "threads", kMemory = "memory",
                                  kStateWalk = "state walk", kDeterminism = "determinism";

struct CheckSettings {
  std::vector<backgauge_op> ops;
  std::uint64_t seed = 1;
  std::int32_t num_threads = 1;  // of each call
};

class Checks {
 public:
  explicit Checks(Runner& runner) : runner_(runner) {}

  // Makes one of the checks above; `summary` gets what was measured. Throws nothing.
  void make(std::string_view check, const CheckSettings& settings, Summary& summary);

  void add(const Walk& walked);
  void add(const std::vector<OpDeterminism>& measured);
  void add(const Crowd& judged);
  void add(const ThreadCounts& counted);
  void add(const MemoryGrowths& measured);

  // Runs a check. An exception counts as an error of the harness; the other checks and the run continue.
  void attempt(const std::string& what, const std::function<void()>& check);

  const std::vector<Record>& failed() const { return failed_; }

 private:
  void add(const std::string& what, std::string_view group, Verdict verdict);

  Runner& runner_;
  std::vector<Record> failed_;
};

}  // namespace backgauge::cli
