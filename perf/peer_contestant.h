// SPDX-License-Identifier: Apache-2.0
// A peer: another framework in processes of its own, or an unavailable one. A peer is judged by the files that it
// writes, and measures its own times: peers/README.md.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/contestant.h"
#include "perf/peer_process.h"

namespace backgauge {

// The command that starts a peer; --threads=N is appended.
class PeerContestant : public Contestant {
 public:
  // Waits for its greeting. Throws PeerError with the reason if it is unavailable.
  PeerContestant(std::string name, std::vector<std::string> command, int threads);
  ~PeerContestant() override;

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  Verdict judge(WorkloadInputs& workload_inputs) override;
  std::optional<Verdict> refuse(WorkloadInputs& workload_inputs) override;

  // The first is the process that was judged. Processes are kept, paused, for later workloads, because frameworks take
  // long to start.
  std::unique_ptr<Launch> launch(WorkloadInputs& workload_inputs) override;
  void drop() override;

 private:
  friend class PeerLaunch;

  PeerProcess& process(std::size_t number);
  nlohmann::json load_into(PeerProcess& process) const;
  Verdict judge_outputs(PeerProcess& process) const;

  std::string name_, version_;
  std::vector<std::string> command_;
  int threads_;
  std::vector<std::unique_ptr<PeerProcess>> processes_;
  std::size_t launches_ = 0;      // launches of this workload
  std::filesystem::path folder_;  // of this process
  WorkloadInputs* workload_inputs_ = nullptr;
  std::vector<std::string> outputs_;  // names of the outputs that it computes
};

// An unavailable peer: SKIPPED on every workload, with the reason.
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
