// SPDX-License-Identifier: Apache-2.0
// A framework in a process of its own, and one that is not there. A peer is judged by what it writes into files, and
// reads the clock itself: README.md, "Peers".
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
  Verdict judge(Subject& subject) override;
  double load(Subject& subject) override;
  double time(std::int64_t calls) override;
  Verdict judge_again() override;
  void drop() override;
  int process() const override { return peer_->process(); }

 private:
  Verdict judge_outputs();

  std::string name_, version_;
  std::unique_ptr<PeerProcess> peer_;
  std::filesystem::path folder_;  // of this process
  Subject* subject_ = nullptr;
  std::vector<std::string> outputs_;  // that it can make
};

// Named on every workload, with the reason why it has no time.
class AbsentContestant : public Contestant {
 public:
  AbsentContestant(std::string name, std::string reason) : name_(std::move(name)), reason_(std::move(reason)) {}

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  Verdict judge(Subject&) override { return {Status::kSkipped, "absent: " + reason_, {}}; }
  double load(Subject&) override { throw ContestantError(reason_); }
  double time(std::int64_t) override { throw ContestantError(reason_); }
  Verdict judge_again() override { return {Status::kSkipped, reason_, {}}; }
  void drop() override {}

 private:
  std::string name_, reason_, version_;
};

}  // namespace backgauge
