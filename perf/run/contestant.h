// SPDX-License-Identifier: Apache-2.0
// A contestant: an implementation that is timed. For each workload, the order of calls is judge (or refuse, in a run
// that judges nothing), launch (once or several times; not if it did not pass), drop. Each launch is a process of its
// own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "perf/call/session.h"
#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge {

// One workload: its case, its inputs, and the expected outputs.
struct WorkloadInputs {
  Case c;
  Filled filled;
  ExpectedOutputs expected;
  LoadOptions options;

  // Throws std::runtime_error if the inputs cannot be made.
  WorkloadInputs(const Case& c, const LoadOptions& options);
};

// A contestant with the workload in memory. It starts running; while it is paused only resume() may be called.
class Launch {
 public:
  Launch() = default;
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  virtual ~Launch() = default;

  virtual Loaded loaded() const = 0;

  // Switches to other inputs of the workload (signs.h), if the contestant supports it. This and time() throw
  // ContestantError.
  virtual void turn(std::uint64_t seed) = 0;

  // `calls` calls, one after the other.
  virtual Timing time(std::int64_t calls) = 0;

  // Judges the outputs of the last timed call, and those of one more call.
  virtual Verdict judge() = 0;

  // While paused it takes no CPU time from others, whatever its threads do.
  virtual void pause() = 0;
  virtual void resume() = 0;

  // The process that does the work while this one waits, or 0.
  virtual int process() const { return 0; }
};

class Contestant {
 public:
  Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;
  virtual ~Contestant() = default;

  virtual const std::string& name() const = 0;
  virtual const std::string& version() const = 0;

  // Whether it computes on this machine's CPU, so that the CPU's limits apply.
  virtual bool on_cpu() const { return true; }

  // `workload_inputs` must live until drop().
  virtual Verdict judge(WorkloadInputs& workload_inputs) = 0;

  // In place of judge(), where results are not judged: why it cannot compute the workload, as the verdict SKIPPED or
  // BROKEN, or nullopt. `workload_inputs` must live until drop().
  virtual std::optional<Verdict> refuse(WorkloadInputs& workload_inputs) = 0;

  // Prepares the workload in a process that has not had it before. Throws ContestantError.
  virtual std::unique_ptr<Launch> launch(WorkloadInputs& workload_inputs) = 0;

  // Frees the workload, if it has one. Its launches must have been destroyed.
  virtual void drop() {}
};

}  // namespace backgauge
