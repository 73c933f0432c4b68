// SPDX-License-Identifier: Apache-2.0
#include "ci/run/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/load_implementation.h"
#include "ci/run/python.h"
#include "impl/registry.h"
#include "perf/session_process.h"
#include "properties/case/memory_budget.h"
#include "properties/judge/worker/worker_main.h"
#include "properties/judge/worker/worker_runner.h"

namespace backgauge::cli {
namespace {

bool is_isolated(const std::string& name, const std::string& isolate) {
  if (isolate != "auto") return isolate == "on";
  if (name.starts_with(kSaboteurPrefix)) return false;
  const std::vector<std::string> built_in = registry_names();
  return std::ranges::find(built_in, name) == built_in.end();
}

}  // namespace

// Half of the memory, so that an implementation that uses up its limit leaves the other half to the judge, which holds
// the same case and the expected outputs. For several such implementations at once there is --memory-limit.
IsolationOptions::IsolationOptions()
    : timeout(std::chrono::duration_cast<std::chrono::seconds>(WorkerOptions().timeout)),
      memory_limit(machine_memory() / 2) {}

void add_isolation_options(Subcommand& command, IsolationOptions& options) {
  command
      .option("--isolate", options.isolate,
              "on: run the implementation in separate processes, so that it may crash; auto: on unless it is built in")
      .check(one_of({"on", "off", "auto"}))
      .envname("BACKGAUGE_ISOLATE");
  add_duration(command, "--timeout", options.timeout, "time limit of one isolated call: 30s, 5m")
      .default_text(fmt::format("{}s", options.timeout.count()))
      .envname("BACKGAUGE_TIMEOUT");
  command
      .option("--memory-limit", options.memory_limit,
              "memory that an isolated implementation may allocate, or request in prepare: 2G, 512M; 0: no limit")
      .check(memory_size())
      .default_text("half of the machine's memory")
      .envname("BACKGAUGE_MEMORY_LIMIT");
  command
      .option("--python", options.python, "interpreter of an implementation that is a Python file (--impl=kernel.py)")
      .envname("BACKGAUGE_PYTHON");
}

WorkerProgram worker_program(const std::string& implementation, const IsolationOptions& options) {
  return is_python_file(implementation) ? python_worker(options.python) : WorkerProgram{};
}

Candidate::Candidate(const std::string& name, const IsolationOptions& options)
    : name_(name), options_(options), isolated_(is_isolated(name, options.isolate)) {
  if (isolated_) program_ = worker_program(name, options);
  runners_.push_back(open());
  if (!isolated_) return;
  const std::string refusal = table_refusal(&table());
  if (!refusal.empty()) throw CommandError{kNotLoaded, name + ": " + refusal};
}

Runner& Candidate::runner(std::size_t job) {
  while (runners_.size() <= job) runners_.push_back(open());
  return *runners_[job];
}

std::unique_ptr<Runner> Candidate::open() const {
  if (!isolated_) return std::make_unique<InProcessRunner>(load_implementation(name_));
  try {
    return std::make_unique<WorkerRunner>(WorkerOptions{.implementation = name_,
                                                        .program = program_,
                                                        .timeout = options_.timeout,
                                                        .memory_limit = options_.memory_limit,
                                                        .patience = patience_});
  } catch (const LoadError& error) {
    throw CommandError{kNotLoaded, error.what()};
  } catch (const std::exception& error) {  // no process could be started, or no shared memory created
    throw CommandError{kSelfCheck, error.what()};
  }
}

void serve_as_worker(const std::vector<std::string>& arguments) {
  const auto open = [](const std::string& name, std::string& error) -> const backgauge_implementation* {
    try {
      return &load_implementation(name);
    } catch (const CommandError& failure) {
      error = failure.text;
      return nullptr;
    }
  };
  if (is_session(arguments)) session_main(arguments, open);
  worker_main(arguments, open);
}

}  // namespace backgauge::cli
