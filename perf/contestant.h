// SPDX-License-Identifier: Apache-2.0
// What is timed: an implementation in this process, or another program. A contestant has one workload at a time, in
// this order: judge; if that was good load, time ..., judge_again; drop.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "perf/expected.h"
#include "properties/case/inputs.h"
#include "properties/judge/verdict.h"

namespace backgauge {

// One workload: its line, its inputs, and what is right.
struct Subject {
  Case c;
  Filled filled;
  Expected expected;
  int threads = 1;

  // Throws std::runtime_error where the inputs cannot be made.
  Subject(const Case& c, int threads);
};

// A contestant that cannot go on with a workload: why.
struct ContestantError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Contestant {
 public:
  Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;
  virtual ~Contestant() = default;

  virtual const std::string& name() const = 0;
  virtual const std::string& version() const = 0;

  // The subject lives until drop.
  virtual Verdict judge(Subject& subject) = 0;

  // Makes everything ready in fresh memory. On output the seconds of the first call there.
  // This and the next two throw ContestantError.
  virtual double load(Subject& subject) = 0;

  // Seconds of so many calls one after the other.
  virtual double time(std::int64_t calls) = 0;

  // Of a device that the contestant works on, before the call that is timed next.
  virtual void empty_caches() {}

  // What one more call computes where the timed ones did.
  virtual Verdict judge_again() = 0;

  // Lets go of the workload, if it has one.
  virtual void drop() = 0;

  // The process that works while this one waits, or 0.
  virtual int process() const { return 0; }
};

}  // namespace backgauge
