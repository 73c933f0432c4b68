// SPDX-License-Identifier: Apache-2.0
// Runs the calls of an implementation in this process, or in one that may crash (worker/). A runner is used by one
// thread at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "properties/judge/call/placed_call.h"
#include "properties/judge/call/refusal_frame.h"
#include "properties/judge/memory/arena.h"
#include "properties/judge/runner/memory_growth.h"
#include "properties/judge/runner/thread_use.h"
#include "properties/judge/runner/together.h"

namespace backgauge {

struct Malformed;  // refusals.h

class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  // The claims of the implementation, and which functions it has. Only run() and the functions below call these.
  virtual const backgauge_implementation& table() const = 0;

  // True if the implementation runs in a process of its own.
  virtual bool isolated() const { return false; }

  // Between two cases: the next call is made by a new process. False if the runner has no processes.
  virtual bool renew() { return false; }

  // A call of a problem, and of tensors that join its inputs at their places in the op's table, or replace them. The
  // problem may be one that the contract refuses. For the masks: as call/run.h says. Throws std::bad_alloc where the
  // arena cannot be had, std::invalid_argument for an op that has no table.
  virtual RunResult run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) = 0;
  virtual DropoutMasks dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                                     const RunOptions& options) = 0;

  // As together.h says. Each call is made by a thread of its own.
  virtual Together run_together(const std::vector<TogetherCall>& calls) = 0;

  // As measure_thread_use().
  virtual ThreadUse thread_use(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) = 0;

  // As measure_memory_growth().
  virtual MemoryGrowth memory_growth(const Problem& problem, std::span<const RawTensor> raw,
                                     const RunOptions& options) = 0;

  // Makes a malformed call of an op that is claimed. On output its answer; writes are violations.
  virtual RunResult refuse(const Malformed& which) = 0;

  // The memory of all calls is kept until the case ends. On output OK, with what changed in it after its call had
  // returned as violations, and in `broken` how the process ended if it did.
  virtual RunResult end_case() = 0;

  // An op is not called again after too many timeouts: `broken` then begins with kNotRun. This resets the count.
  virtual void forget_timeouts() {}
};

class InProcessRunner : public Runner {
 public:
  // The table outlives the runner. The observer is called when a function is entered and when it returns.
  // `memory_limit`: bytes that prepare may ask for; 0: as much as the machine has.
  explicit InProcessRunner(const backgauge_implementation& implementation, CallObserver observer = {},
                           std::uint64_t memory_limit = 0)
      : implementation_(implementation), observer_(std::move(observer)), memory_limit_(memory_limit) {}

  const backgauge_implementation& table() const override { return implementation_; }
  RunResult run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) override;
  DropoutMasks dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                             const RunOptions& options) override;
  Together run_together(const std::vector<TogetherCall>& calls) override;
  ThreadUse thread_use(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) override;
  MemoryGrowth memory_growth(const Problem& problem, std::span<const RawTensor> raw,
                             const RunOptions& options) override;
  RunResult refuse(const Malformed& which) override;
  RunResult end_case() override;

 private:
  const backgauge_implementation& implementation_;
  CallObserver observer_;
  std::uint64_t memory_limit_;
  std::vector<CallMemory> memories_;
  std::unique_ptr<RefusalFrame> refusal_frame_;  // from a malformed call until the next other call
  bool threads_grew_ = false;                    // in a call of this case
};

}  // namespace backgauge
