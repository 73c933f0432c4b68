// SPDX-License-Identifier: Apache-2.0
// One implementation with one workload in memory, in this or another process: called many times with inputs that change
// between samples; at the end its outputs are read.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "perf/meter/clocks.h"
#include "perf/meter/meter.h"
#include "perf/workload/digits.h"
#include "properties/judge/compare/judge_outputs.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge {

// A contestant cannot continue with a workload: the reason, and the resulting verdict.
struct ContestantError : std::runtime_error {
  explicit ContestantError(const std::string& what, Status verdict = Status::kBroken)
      : std::runtime_error(what), status(verdict) {}
  Status status;
};

// What is known of a workload when it is in memory.
struct Loaded {
  double first_call = 0;  // seconds, in fresh memory
  double empty_call = 0;  // seconds of a call that computes nothing, in a language whose calls cost something; else 0
};

// The results of a call, for the judge.
struct Computed {
  std::vector<GivenTensor> outputs{};
  std::vector<std::vector<std::uint8_t>> keep{};  // its dropout masks, if it uses any and can report them
  bool masks_unavailable = false;                 // it draws masks but cannot report them
};

struct LoadOptions {
  int threads = 1;
  std::int64_t evict_bytes = 0;      // bytes written before every timed call to empty the caches; 0: hot caches
  bool watched = false;              // samples are taken with observe()
  Fresh fresh = Fresh::kEverything;  // which inputs get other digits if they are watched

  // Which inputs get other digits; nullopt: none.
  std::optional<Fresh> digits() const { return watched ? std::optional(fresh) : std::nullopt; }
};

// A sample that the judge has watched: every call had other inputs, which lay elsewhere than in the last sample, and
// outputs that were poisoned.
struct Observation {
  Timing timing;                         // as the process says
  std::optional<ClockDispute> clocks{};  // set if the judge's clock says something else
  Computed computed{};                   // by one of the calls, which the process could not know in advance
  std::uint64_t seed = 0;                // of the inputs of this call (variation.h),
  std::uint64_t last_seed = 0;           // and of the last one
};

// Constructed with the workload: everything has been prepared in fresh memory, and called for the first time. Every
// function throws ContestantError.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  virtual Loaded loaded() const = 0;

  // Gives the inputs the variation of this seed (variation.h), and runs the implementation's own forward again.
  virtual void turn(std::uint64_t seed) = 0;

  // `calls` calls, one after the other.
  virtual Timing time(std::int64_t calls) = 0;

  // `calls` calls that are watched: only of a process of its own, with LoadOptions::watched.
  virtual Observation observe(std::int64_t) { throw ContestantError("cannot be watched in this process"); }

  // The outputs of the last call; with `again`, those of one more call after setting them to NaN.
  virtual Computed computed(bool again) = 0;

  // Between pause() and resume() a process of its own is stopped with all its threads, and no function may be called.
  virtual void pause() {}
  virtual void resume() {}
  virtual int process() const { return 0; }  // 0: this one
};

}  // namespace backgauge
