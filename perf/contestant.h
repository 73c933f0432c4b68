// SPDX-License-Identifier: Apache-2.0
// What is timed: an implementation of the contract, or another program. A contestant has one workload at a time, in
// this order: judge; if that was good launch, as often as asked; drop. Each launch is a process of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "perf/session.h"
#include "properties/case/inputs.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge {

// One workload: its line, its inputs, and what is right.
struct WorkloadInputs {
  Case c;
  Filled filled;
  ExpectedOutputs expected;
  LoadOptions options;

  // Throws std::runtime_error where the inputs cannot be made.
  WorkloadInputs(const Case& c, const LoadOptions& options);
};

// A contestant with the workload in memory. It starts awake; its functions but resume() are for one that is.
class Launch {
 public:
  Launch() = default;
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  virtual ~Launch() = default;

  virtual double first_call() const = 0;  // seconds, in fresh memory

  // Other inputs of the workload (signs.h), where the contestant can be given some. This and time() throw
  // ContestantError.
  virtual void turn(std::uint64_t seed) = 0;

  // So many calls, one after the other.
  virtual Timing time(std::int64_t calls) = 0;

  // What the last timed call has computed, and what one more does in its place.
  virtual Verdict judge() = 0;

  // Asleep it takes no time from others, whatever its threads do.
  virtual void pause() = 0;
  virtual void resume() = 0;

  // The process that works while this one waits, or 0.
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

  // Whether it computes on this machine's CPU, whose limits then are its own.
  virtual bool on_cpu() const { return true; }

  // `workload_inputs` must live until drop().
  virtual Verdict judge(WorkloadInputs& workload_inputs) = 0;

  // Makes everything ready in a process that has not had this workload. Throws ContestantError.
  virtual std::unique_ptr<Launch> launch(WorkloadInputs& workload_inputs) = 0;

  // Lets go of the workload, if it has one. Its launches are gone by then.
  virtual void drop() {}
};

}  // namespace backgauge
