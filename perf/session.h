// SPDX-License-Identifier: Apache-2.0
// One implementation with one workload in memory, in some process: loaded once, called many times with inputs that
// change between samples, asked for its outputs at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "properties/judge/compare/judge_values.h"
#include "properties/judge/compare/verdict.h"
#include "reference/contract/call.h"

namespace backgauge {

class TimedCall;

// Someone who is timed cannot go on with a workload: why, and what that makes of it.
struct ContestantError : std::runtime_error {
  explicit ContestantError(const std::string& what, Status verdict = Status::kBroken)
      : std::runtime_error(what), status(verdict) {}
  Status status;
};

struct Timing {
  double seconds = 0;      // of the calls, by the clock on the wall, or of the device
  double cpu_seconds = 0;  // of all threads of the process meanwhile
};

// What a call computed, for the judge.
struct Computed {
  std::vector<GivenTensor> outputs{};
  std::vector<std::vector<std::uint8_t>> keep{};  // its dropout masks, if it uses any and can report them
  bool masks_unavailable = false;                 // it draws masks, and has no way to report them
};

struct LoadOptions {
  int threads = 1;
  std::int64_t evict_bytes = 0;  // written before every call that is timed, so that caches hold nothing; 0: not
};

// Every function throws ContestantError.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // Once. Makes everything ready in fresh memory. On output the seconds of the first call there.
  virtual double load(const Problem& problem, const LoadOptions& options) = 0;

  // Gives the inputs the signs of this seed (signs.h); what the implementation's own forward makes is made again.
  virtual void turn(std::uint64_t seed) = 0;

  // So many calls, one after the other.
  virtual Timing time(std::int64_t calls) = 0;

  // What the last call has left; with `again` what one more makes of outputs that hold NaN.
  virtual Computed computed(bool again) = 0;

  // A process of its own does not run between pause() and resume(), with all its threads. Nothing is asked meanwhile.
  virtual void pause() {}
  virtual void resume() {}
  virtual int process() const { return 0; }  // or 0: this one
};

// "" or what is wrong with calls that took so much time with so many threads allowed: others were at work, too.
std::string too_many_threads(const Timing& timing, int threads);

// In this process.
class LocalSession : public Session {
 public:
  // The table outlives the session.
  explicit LocalSession(const backgauge_implementation& implementation);
  ~LocalSession() override;

  double load(const Problem& problem, const LoadOptions& options) override;
  void turn(std::uint64_t seed) override;
  Timing time(std::int64_t calls) override;
  Computed computed(bool again) override;

 private:
  void check_threads(const Timing& timing);

  const backgauge_implementation& implementation_;
  LoadOptions options_;
  Problem shapes_;  // of the workload, without values
  Timing so_far_;
  std::unique_ptr<TimedCall> call_;
};

}  // namespace backgauge
