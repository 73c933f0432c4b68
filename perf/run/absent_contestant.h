// SPDX-License-Identifier: Apache-2.0
// A contestant that is not on this machine, such as a framework that is not installed: SKIPPED on every workload, with
// the reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "perf/run/contestant.h"

namespace backgauge {

class AbsentContestant : public Contestant {
 public:
  AbsentContestant(std::string name, std::string reason) : name_(std::move(name)), reason_(std::move(reason)) {}

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  Verdict judge(WorkloadInputs&) override { return {Status::kSkipped, "absent: " + reason_, {}}; }
  std::optional<Verdict> refuse(WorkloadInputs& workload_inputs) override { return judge(workload_inputs); }
  std::unique_ptr<Launch> launch(WorkloadInputs&) override { throw ContestantError(reason_); }

 private:
  std::string name_, reason_, version_;
};

}  // namespace backgauge
