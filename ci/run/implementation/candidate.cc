// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/candidate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/adapters.h"
#include "ci/run/implementation/load_implementation.h"
#include "ci/run/implementation/python.h"
#include "impl/registry.h"
#include "perf/call/session_process.h"
#include "perf/call/session_server.h"
#include "properties/case/files/memory_budget.h"
#include "properties/judge/worker/worker_main.h"
#include "properties/judge/worker/worker_runner.h"

namespace backgauge::cli {
namespace {

using Untrusted = IsolationOptions::Untrusted;

constexpr const char* kAsFarAsPossible = "as-far-as-possible";

bool is_isolated(const std::string& name, const IsolationOptions& options) {
  if (options.untrusted != Untrusted::kNo) {
    if (options.isolate != "off") return true;
    throw CommandError{kUsage,
                       "--untrusted: an implementation is confined in a process of its own, not with --isolate=off"};
  }
  if (options.isolate != "auto") return options.isolate == "on";
  if (name.starts_with(kSaboteurPrefix)) return false;
  const std::vector<std::string> built_in = registry_names();
  return std::ranges::find(built_in, name) == built_in.end();
}

// "; or an adapter: ..." if `name` names no implementation.
std::string or_an_adapter(const std::string& name) {
  if (is_built_in(name) || !file_of(name).empty() || is_python_file(name)) return "";
  std::vector<std::string> names;
  for (const Adapter& adapter : adapters()) names.push_back(adapter.name);
  return names.empty() ? "" : fmt::format("; or an adapter: {}", fmt::join(names, " "));
}

// The variables that the user hands on to what is confined, separated by commas.
std::vector<std::string> handed_on() {
  std::vector<std::string> out;
  const char* const names = std::getenv("BACKGAUGE_VARIABLES");
  std::istringstream given(names == nullptr ? "" : names);
  for (std::string name; std::getline(given, name, ',');) out.push_back(name);
  return out;
}

// The folders that it is loaded from.
Confinement confinement_of(const std::string& implementation) {
  const std::filesystem::path file = is_python_file(implementation) ? implementation : file_of(implementation);
  Confinement out{.variables = handed_on()};
  if (!file.empty()) out.readable.push_back(std::filesystem::weakly_canonical(file).parent_path());
  // The user's choice of a library, which the judge's own code loads in this process.
  if (const char* const runtime = std::getenv("BACKGAUGE_CUDART")) out.readable.emplace_back(runtime);
  return out;
}

// A run that was to be confined must not go on as if it were.
void require_protections(const IsolationOptions& options) {
  const std::vector<std::string> lacking = lacking_protections();
  if (options.untrusted != Untrusted::kYes || lacking.empty()) return;
  throw CommandError{kUsage, fmt::format("--untrusted: this machine cannot confine a process: it lacks {}. "
                                         "--untrusted={} goes on without",
                                         fmt::join(lacking, "; "), kAsFarAsPossible)};
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
  const auto take_untrusted = [&options](const std::string& given) {
    options.untrusted = given.empty() ? Untrusted::kYes : Untrusted::kAsFarAsPossible;
  };
  command
      .option_for("--untrusted", take_untrusted,
                  std::string("confine it: it may compute, and read its own folder and libraries; ") +
                      kAsFarAsPossible + ": also where this machine lacks some of the protections")
      .value_name("TEXT")
      .optional_value()
      .check({[](const std::string& text) {
                const bool known = text.empty() || text == kAsFarAsPossible;
                return known ? std::string() : fmt::format("\"{}\": expected nothing, or {}", text, kAsFarAsPossible);
              },
              fmt::format("{{{}}}", kAsFarAsPossible)});
}

Candidate::Candidate(const std::string& name, const IsolationOptions& options)
    : name_(name), options_(options), isolated_(is_isolated(name, options)) {
  require_protections(options);
  if (const std::optional<Adapter> adapter = find_adapter(name)) {
    name_ = adapter->file;
    if (!adapter->python.empty()) options_.python = adapter->python;
  }
  if (is_python_file(name_) && isolated_) program_ = python_worker(options_.python, options_.threads);
  if (options_.untrusted != Untrusted::kNo) program_.confinement = confinement_of(name_);
  const auto begin = std::chrono::steady_clock::now();
  runners_.push_back(open());
  seconds_to_start_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!isolated_) return;
  const std::string refusal = table_refusal(&table());
  if (!refusal.empty()) throw CommandError{kNotLoaded, name + ": " + refusal};
}

std::string Candidate::conduct() {
  if (options_.untrusted == Untrusted::kNo) return "";
  for (const auto& runner : runners_) {
    if (runner != nullptr) runner->renew();
  }
  const auto listed = [](const std::set<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); };
  const std::vector<std::string> lacking = lacking_protections();
  std::string out = fmt::format(
      "untrusted: {}", lacking.empty() ? "confined" : "not confined by " + fmt::format("{}", fmt::join(lacking, "; ")));
  if (const auto libraries = conduct_->libraries(); !libraries.empty()) out += "; loads " + listed(libraries);
  if (const auto refused = conduct_->refused(); !refused.empty()) out += "; was refused " + listed(refused);
  return out;
}

Runner& Candidate::runner(std::size_t job) {
  {
    const std::lock_guard lock(mutex_);
    if (runners_.size() <= job) runners_.resize(job + 1);
    if (runners_[job] != nullptr) return *runners_[job];
  }
  std::unique_ptr<Runner> opened = open();
  const std::lock_guard lock(mutex_);
  runners_[job] = std::move(opened);
  return *runners_[job];
}

std::unique_ptr<Session> Candidate::session(const Problem& problem, const LoadOptions& options,
                                            const Callgrind* counted) const {
  const WorkerProgram program = counted != nullptr ? counted->around(program_) : program_;
  SessionLimits limits{options_.timeout, options_.memory_limit};
  if (counted != nullptr) {  // under Valgrind a call takes up to fifty times as long, and more memory
    constexpr int kSlowdown = 50;
    limits = {kSlowdown * options_.timeout, 0};
  }
  return std::make_unique<SessionProcess>(name_, problem, options, program, conduct_, limits);
}

std::unique_ptr<Runner> Candidate::open() const {
  if (!isolated_) return std::make_unique<InProcessRunner>(load_implementation(name_));
  try {
    return std::make_unique<WorkerRunner>(WorkerOptions{.implementation = name_,
                                                        .program = program_,
                                                        .timeout = options_.timeout,
                                                        .memory_limit = options_.memory_limit,
                                                        .patience = patience_,
                                                        .conduct = conduct_});
  } catch (const LoadError& error) {
    throw CommandError{kNotLoaded, error.what() + or_an_adapter(name_)};
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
