// SPDX-License-Identifier: Apache-2.0
// How the judge reaches an implementation: in this process, or in one that may die (worker/). A runner belongs to one
// thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "properties/judge/call/placed_call.h"
#include "properties/judge/call/refusal_frame.h"
#include "properties/judge/memory/arena.h"
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

  // What the implementation says of itself, and which functions there are. They are not to be called: run() does.
  virtual const backgauge_implementation& table() const = 0;

  // Whether it runs in a process of its own.
  virtual bool isolated() const { return false; }

  // Between two cases: lets a new process make the next call. False where there is none to be had.
  virtual bool renew() { return false; }

  // As run() below, and for the masks as call/run.h says.
  virtual RunResult run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) = 0;
  virtual DropoutMasks dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                                     const RunOptions& options) = 0;

  // As together.h says. The calls are made by as many threads as there are of them.
  virtual Together run_together(const std::vector<TogetherCall>& calls) = 0;

  // As measure_thread_use().
  virtual ThreadUse thread_use(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) = 0;

  // Makes a malformed call of an op that is claimed. On output what was answered; a violation says what was written.
  virtual RunResult refuse(const Malformed& which) = 0;

  // The memory of all calls stays as it is until their case ends. On output what has changed in it after its call had
  // returned, and what has otherwise happened since.
  struct CaseEnd {
    std::vector<std::string> violations;
    std::string broken;  // as in RunResult
  };
  virtual CaseEnd end_case() = 0;

  // An op whose calls keep timing out is given up on: `broken` then begins with kNotRun. This allows as many again.
  virtual void forget_timeouts() {}
};

class InProcessRunner : public Runner {
 public:
  // The table outlives the runner. The observer is told of every function that is entered and left. `memory_limit`:
  // bytes that prepare may ask for; 0: what the machine has.
  explicit InProcessRunner(const backgauge_implementation& implementation, CallObserver observer = {},
                           std::uint64_t memory_limit = 0)
      : implementation_(implementation), observer_(std::move(observer)), memory_limit_(memory_limit) {}

  const backgauge_implementation& table() const override { return implementation_; }
  RunResult run(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) override;
  DropoutMasks dropout_masks(const Problem& problem, std::span<const RawTensor> raw,
                             const RunOptions& options) override;
  Together run_together(const std::vector<TogetherCall>& calls) override;
  ThreadUse thread_use(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options) override;
  RunResult refuse(const Malformed& which) override;
  CaseEnd end_case() override;

 private:
  const backgauge_implementation& implementation_;
  CallObserver observer_;
  std::uint64_t memory_limit_;
  std::vector<CallMemory> memories_;
  std::unique_ptr<RefusalFrame> refusal_frame_;  // from a malformed call to the next call that is none
  bool threads_grew_ = false;                    // in a call of this case
};

// The calls of an InProcessRunner that is made for one call: of a problem, and tensors that join its inputs at their
// places in the op's table, or replace them. The problem may be one that the contract refuses. The implementation is
// one in host memory. Throws std::bad_alloc where the arena cannot be had, std::invalid_argument for an op that has no
// table.
RunResult run(const backgauge_implementation& implementation, const Problem& problem, std::span<const RawTensor> raw,
              const RunOptions& options);
DropoutMasks dropout_masks(const backgauge_implementation& implementation, const Problem& problem,
                           std::span<const RawTensor> raw, const RunOptions& options);

}  // namespace backgauge
