// SPDX-License-Identifier: Apache-2.0
// An implementation behind the contract's table: judged through a Runner, which may be another process, and timed in
// this one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "perf/contestant.h"
#include "perf/timed_call.h"
#include "properties/judge/runner.h"

namespace backgauge {

class TableContestant : public Contestant {
 public:
  // `open` gives the table in this process; it is asked when the first workload has passed. The runner outlives this.
  TableContestant(std::string name, Runner& runner, std::function<const backgauge_implementation&()> open);

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  Verdict judge(Subject& subject) override;
  double load(Subject& subject) override;
  double time(std::int64_t calls) override;
  void empty_caches() override { call_->empty_caches(); }
  Verdict judge_again() override;
  void drop() override;

 private:
  std::string name_, version_;
  Runner& runner_;
  std::function<const backgauge_implementation&()> open_;
  Subject* subject_ = nullptr;
  std::unique_ptr<TimedCall> call_;
};

}  // namespace backgauge
