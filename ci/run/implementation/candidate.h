// SPDX-License-Identifier: Apache-2.0
// The implementation that a command judges: by name, in this process or in separate ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ci/options/command_line.h"
#include "ci/run/implementation/callgrind.h"
#include "perf/call/session.h"
#include "properties/judge/runner/runner.h"
#include "properties/judge/worker/conduct.h"
#include "properties/judge/worker/patience.h"
#include "properties/judge/worker/worker_process.h"

namespace backgauge::cli {

struct IsolationOptions {
  std::string isolate = "auto";  // on, off; auto: on unless it is built in
  std::chrono::seconds timeout;  // per call, isolated
  std::uint64_t memory_limit;    // of an isolated implementation, in bytes (WorkerOptions); 0: none
  std::string python;            // interpreter of an implementation in Python; "": python_worker() chooses
  int threads = 1;               // that libraries of an implementation in Python may use in their pools

  // Its processes are confined. kAsFarAsPossible: also on a machine that lacks some of the protections.
  enum class Untrusted { kNo, kYes, kAsFarAsPossible } untrusted = Untrusted::kNo;

  IsolationOptions();
};

// --isolate, --timeout, --memory-limit, --python, --untrusted.
void add_isolation_options(Subcommand& command, IsolationOptions& options);

class Candidate {
 public:
  // name: an implementation (load_implementation.h), a Python file or an adapter. Throws CommandError(kNotLoaded).
  explicit Candidate(const std::string& name, const IsolationOptions& options = {});

  const backgauge_implementation& table() const {
    const std::lock_guard lock(mutex_);
    return runners_.front()->table();
  }
  bool isolated() const { return isolated_; }

  // After all calls, of an untrusted one: how it was confined, and what it has done besides computing, in a line; else
  // "".
  std::string conduct();

  // Starts one more process of it, for timing, whether or not it is judged in this one; under callgrind with `counted`.
  // Throws ContestantError.
  std::unique_ptr<Session> session(const Problem& problem, const LoadOptions& options, const Callgrind* counted) const;

  // One runner for each parallel job, numbered from 0; started at the first call with that number, in the thread of the
  // caller. Throws CommandError(kNotLoaded).
  Runner& runner(std::size_t job = 0);

  // How long the first one took to start, such as the imports of a Python file.
  double seconds_to_start() const { return seconds_to_start_; }

 private:
  std::unique_ptr<Runner> open() const;

  std::string name_;
  IsolationOptions options_;
  WorkerProgram program_;
  std::shared_ptr<Patience> patience_ = std::make_shared<Patience>();
  std::shared_ptr<Conduct> conduct_ = std::make_shared<Conduct>();
  bool isolated_;
  double seconds_to_start_ = 0;
  mutable std::mutex mutex_;  // of the list, not of its runners
  std::vector<std::unique_ptr<Runner>> runners_;
};

// Runs the program as `backgauge worker ...`; `arguments`: those after the word worker.
[[noreturn]] void serve_as_worker(const std::vector<std::string>& arguments);

}  // namespace backgauge::cli
