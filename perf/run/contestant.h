// SPDX-License-Identifier: Apache-2.0
// A contestant: an implementation that is timed. For each workload, the order of calls is judge (or refuse, in a run
// that judges nothing), launch (once or several times; not if it did not pass). Each launch is a process of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "perf/call/session.h"
#include "properties/case/draw/inputs.h"
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

  // Throws std::runtime_error if the inputs cannot be made, and of these Stopped if the crew is told to stop.
  WorkloadInputs(const Case& line, const LoadOptions& load, const Crew& crew = Crew())
      : c(line), filled(fill(line, crew)), expected(filled.facts), options(load) {
    if (!filled.error.empty()) throw std::runtime_error(filled.error);
    if (c.data != DataProfile::kGolden) c.checksum = filled.checksum;
    // An implementation may compute the saved tensors of a training step again, and then they belong to its inputs.
    const bool one_forward = filled.facts.training && !traits_of(c.op).forward;
    options.fresh = one_forward ? Fresh::kUpstream : Fresh::kEverything;
  }
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

  // `workload_inputs` must outlive the launches.
  virtual Verdict judge(WorkloadInputs& workload_inputs) = 0;

  // In place of judge(), where results are not judged: why it cannot compute the workload, as the verdict SKIPPED or
  // BROKEN, or nullopt.
  virtual std::optional<Verdict> refuse(WorkloadInputs& workload_inputs) = 0;

  // Prepares the workload in a process that has not had it before. Throws ContestantError.
  virtual std::unique_ptr<Launch> launch(WorkloadInputs& workload_inputs) = 0;
};

// One that is not on this machine, such as a framework that is not installed: SKIPPED on every workload, with the
// reason.
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
