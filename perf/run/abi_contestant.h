// SPDX-License-Identifier: Apache-2.0
// An implementation of the contract: judged through a Runner, timed in sessions.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "perf/run/contestant.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

class AbiContestant : public Contestant {
 public:
  // Throws ContestantError.
  using Open = std::function<std::unique_ptr<Session>(const Problem& problem, const LoadOptions& options)>;

  // The runner must outlive this.
  AbiContestant(std::string name, Runner& runner, Open open);

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  bool on_cpu() const override { return runner_.table().memory_space != BACKGAUGE_CUDA; }
  Verdict judge(WorkloadInputs& workload_inputs) override;
  std::optional<Verdict> refuse(WorkloadInputs& workload_inputs) override;
  std::unique_ptr<Launch> launch(WorkloadInputs& workload_inputs) override;

 private:
  std::string name_, version_;
  Runner& runner_;
  Open open_;
};

}  // namespace backgauge
