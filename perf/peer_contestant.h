// SPDX-License-Identifier: Apache-2.0
// A framework in processes of its own, and one that is not there. A peer is judged by what it writes into files, and
// reads the clock itself: peers/README.md.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "perf/contestant.h"
#include "perf/peer_process.h"

namespace backgauge {

// Words that start a peer; `threads` follows as --threads=N.
class PeerContestant : public Contestant {
 public:
  // Waits for its greeting. Throws PeerError: why it is absent.
  PeerContestant(std::string name, std::vector<std::string> command, int threads);
  ~PeerContestant() override;

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  Verdict judge(WorkloadInputs& workload_inputs) override;

  // The first is the process that was judged. Processes stay, asleep, for the workloads to come: frameworks take long
  // to start.
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
  std::size_t launches_ = 0;      // of this workload
  std::filesystem::path folder_;  // of this process
  WorkloadInputs* workload_inputs_ = nullptr;
  std::vector<std::string> outputs_;  // that it can make
};

// Named on every workload, with the reason why it has no time.
class AbsentContestant : public Contestant {
 public:
  AbsentContestant(std::string name, std::string reason) : name_(std::move(name)), reason_(std::move(reason)) {}

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  Verdict judge(WorkloadInputs&) override { return {Status::kSkipped, "absent: " + reason_, {}}; }
  std::unique_ptr<Launch> launch(WorkloadInputs&) override { throw ContestantError(reason_); }

 private:
  std::string name_, reason_, version_;
};

}  // namespace backgauge
