// SPDX-License-Identifier: Apache-2.0
// Runs an implementation in a worker process. A crash there affects only one case: its call has no answer, and a new
// worker makes the next call.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "properties/judge/runner/runner.h"
#include "properties/judge/worker/conduct.h"
#include "properties/judge/worker/consumption.h"
#include "properties/judge/worker/messages.h"
#include "properties/judge/worker/patience.h"
#include "properties/judge/worker/worker_process.h"

namespace backgauge {

struct WorkerOptions {
  std::string implementation;  // what the worker opens
  WorkerProgram program{};

  // Per call; time in which it only waits for a processor does not count. The slowest call of the ci tier takes well
  // below a second with the example implementation. This allows for sanitizers, which are up to 20 times slower.
  std::chrono::milliseconds timeout{30'000};

  std::uint64_t memory_limit = 0;  // bytes that it may allocate (allowance.h), and that prepare may ask for; 0: none

  // Shared by all workers of a run.
  std::shared_ptr<Patience> patience = std::make_shared<Patience>();
  std::shared_ptr<Conduct> conduct = std::make_shared<Conduct>();
};

// Thrown if the implementation cannot be opened. what() begins with its name.
class LoadError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class WorkerRunner : public Runner {
 public:
  // Starts a worker, which opens the implementation. Throws LoadError, std::system_error.
  explicit WorkerRunner(WorkerOptions options);
  ~WorkerRunner() override { end_process(); }

  const backgauge_implementation& table() const override { return table_; }
  bool isolated() const override { return true; }
  bool renew() override;
  RunResult run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) override;
  DropoutMasks dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                             const RunOptions& options) override;
  Together run_together(const std::vector<TogetherCall>& calls) override;
  ThreadUse thread_use(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) override;
  MemoryGrowth memory_growth(const Problem& problem, std::span<const RawTensor> raw,
                             const RunOptions& options) override;
  RunResult refuse(const Malformed& which) override;
  RunResult end_case() override;
  void forget_timeouts() override { options_.patience->renew(); }

 private:
  using Seconds = std::chrono::duration<double>;

  // The reply, or why there is none; in that case the worker has been ended.
  struct Answer {
    std::optional<Channel::Message> message;
    std::string broken;
    bool timed_out = false;
  };

  void start();
  void end_process();
  template <class Result, class Read>
  Result call(MessageKind kind, backgauge_op op, const Writer& request, Read read);
  template <class Read>
  auto decoded(const Answer& answer, Read read);
  Answer ask(MessageKind kind, std::span<const std::byte> bytes);
  Answer hear();
  std::string lateness(Seconds limit, Seconds passed, Seconds elapsed) const;
  std::string why_no_answer();
  std::string nonsense() const;
  std::string printed();
  std::string misbehaviour(const RunResult& result);
  std::string excess() const;
  std::string end_worker(std::string why);  // returns why

  WorkerOptions options_;
  Introduction introduction_;
  ClaimArrays claims_;
  backgauge_implementation table_{};
  std::unique_ptr<WorkerProcess> process_;
  bool case_began_ = false;  // a call of this case has been made
  std::uint32_t turn_ = 0;   // of the last request
  int calls_ = 0;            // requested from this worker
  std::int32_t most_threads_ = 1;
  Consumption before_;                // of a confined process, when it got its last request,
  std::uint64_t request_bytes_ = 0;   // of this many bytes
  std::size_t threads_at_start_ = 0;  // those of this worker, and of libraries that start theirs when they are loaded
};

}  // namespace backgauge
