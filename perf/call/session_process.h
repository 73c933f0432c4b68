// SPDX-License-Identifier: Apache-2.0
// A session in a process of its own: a worker, started as `<program> worker --time IMPLEMENTATION`. Whatever
// an implementation does to its process (spinning threads, a changed floating-point environment, a crash at its end)
// does not affect the others or the results.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "perf/call/session.h"
#include "perf/call/session_wire.h"
#include "perf/call/watched_sample.h"
#include "perf/meter/doorbell.h"
#include "properties/judge/worker/conduct.h"
#include "properties/judge/worker/worker_process.h"
#include "reference/contract/call.h"

namespace backgauge {

// As WorkerOptions. What the process itself needs for a workload does not count.
struct SessionLimits {
  std::chrono::milliseconds timeout{30'000};  // of a call
  std::uint64_t memory = 0;                   // bytes, in host memory, of one that computes there; 0: no limit
};

class SessionProcess : public Session {
 public:
  // `conduct`: where a confined process is to add its own.
  SessionProcess(const std::string& implementation, const Problem& problem, const LoadOptions& options,
                 const WorkerProgram& program = {}, std::shared_ptr<Conduct> conduct = std::make_shared<Conduct>(),
                 const SessionLimits& limits = {});
  ~SessionProcess() override { conduct_->add(process_); }

  Loaded loaded() const override { return loaded_; }
  void turn(std::uint64_t seed) override;
  Timing time(std::int64_t calls) override;
  Observation observe(std::int64_t calls) override;
  Computed computed(bool again) override;
  void pause() override;
  void resume() override;
  int process() const override { return process_.child().id(); }

 private:
  using Kind = SessionMessage;

  // What the process does not hear before it needs it.
  struct PlannedSample {
    std::vector<std::uint64_t> seeds{};  // of the inputs of each call
    std::uint32_t chosen = 0;            // the call that is judged
    std::uint32_t shift = 0;             // WatchedSample
  };

  SessionProcess(const std::string& implementation, const WorkerProgram& program, std::shared_ptr<Conduct> conduct,
                 const SessionLimits& limits);
  // `calls`: how many the request is for.
  Channel::Message ask(Kind kind, std::span<const std::byte> bytes, std::int64_t calls = 1);
  void send(Kind kind, std::span<const std::byte> bytes);
  Channel::Message answer_to(Kind kind, std::int64_t calls = 1);
  Channel::Message hear(std::int64_t calls = 1);
  class Watch;
  std::vector<TwoClocks> watch(const PlannedSample& plan, std::vector<GivenTensor>& taken);
  bool is_answered(const Doorbell& bell, std::uint32_t turn, double timeouts);
  std::vector<GivenTensor> outputs_in_block(std::size_t shift) const;
  void expect_quiet() const;
  std::string how_it_ended();
  [[noreturn]] void end(const std::string& why);

  WorkerProcess process_;
  std::shared_ptr<Conduct> conduct_;
  SessionLimits limits_;
  std::uint64_t most_bytes_ = 0;  // that the process may hold; 0: no limit
  std::string ended_for_{};       // why the judge has ended it, which later requests are told as well; "": it has not
  Problem shapes_;                // of the workload, without values
  int threads_ = 1;
  bool on_device_ = false;
  Loaded loaded_;
  std::uint32_t turn_ = 0;  // the number of the last request; its answer repeats it
};

}  // namespace backgauge
