// SPDX-License-Identifier: Apache-2.0
#include "ci/run/bench/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "ci/options/command_error.h"
#include "ci/run/implementation/contestants.h"
#include "ci/run/plan/preflight.h"
#include "ci/run/process/crash_report.h"
#include "ci/run/process/interrupt.h"
#include "ci/run/process/progress.h"
#include "perf/machine/machine.h"
#include "perf/meter/meter.h"
#include "perf/results/context.h"
#include "perf/results/samples.h"
#include "perf/results/text_table.h"

namespace backgauge::cli {
namespace {

// In the context: what a confined implementation of this name did.
constexpr char kConductKey[] = "untrusted/";

// Where the JSON goes: --out, or the library's own flag.
std::string json_file(const BenchArguments& options) {
  if (!options.out.empty()) return options.out;
  return options.google.out_format.empty() || options.google.out_format == "json" ? options.google.out : "";
}

void write_file(const std::string& path, const std::string& text, bool append = false) {
  std::ofstream file(path, append ? std::ios::app : std::ios::trunc);
  file << text;
  if (!file.flush()) throw CommandError{kUsage, path + ": cannot be written"};
}

class BenchRun {
 public:
  explicit BenchRun(const BenchArguments& options)
      : options_(options),
        build_(this_build()),
        workloads_(chosen_workloads(options)),
        callgrind_(options.counting() && !no_hardware_counter().empty() ? std::make_unique<Callgrind>() : nullptr),
        contestants_(open_contestants(options.impl, options.isolation, callgrind_.get())),
        samples_file_(options.counting()           ? options.out
                      : json_file(options).empty() ? ""
                                                   : samples_file_beside(json_file(options))) {
    // Before anything is measured: a result that finds no place costs a run.
    for (const auto& [option, file] :
         {std::pair("--out", options.out), std::pair("--benchmark_out", options.google.out)}) {
      if (!file.empty()) require_writable(option, file);
    }
    if (!samples_file_.empty()) write_file(samples_file_, "");
  }

  int operator()() {
    install_crash_report();
    const InterruptGuard guard;
    Progress progress(workloads_.size());
    machine_ = this_machine();
    progress.show_phase("limits of this machine", 0, workloads_.size());
    if (!options_.counting()) measure_limits();
    bench_options_ = bench_options(progress);
    progress.clear();
    if (tells() && !options_.counting()) fmt::print("{}", heading_text(machine_, build_, limits_, bench_options_));
    if (tells() && options_.counting()) fmt::print("instructions of a call, counted by {}\n", counter());
    Bench bench(machine_, limits_, bench_options_);
    const BenchResult result = bench.run(workloads_, contestants_.all);
    progress.clear();
    finish(result);
    return exit_code(result);
  }

 private:
  // Of what something is timed on: a limit of the CPU says nothing about a time on a device.
  void measure_limits() {
    const auto on_cpu = [](const auto& contestant) { return contestant->on_cpu(); };
    const bool none_on_cpu = std::ranges::none_of(contestants_.all, on_cpu);
    if (!none_on_cpu) limits_ = probe_limits(machine_, options_.threads);
    if (std::ranges::all_of(contestants_.all, on_cpu)) return;
    machine_.device = device::facts();
    if (machine_.device) limits_.device = probe_device(*machine_.device);
  }

  // With one of the library's own formats, stdout has nothing else.
  bool tells() const { return options_.google.format.empty(); }

  BenchOptions bench_options(Progress& progress) {
    BenchOptions out;
    out.rounds = options_.rounds;
    out.launches = options_.launches;
    out.blocks = options_.blocks;
    out.patient = !options_.impatient && !options_.counting();
    out.counting = options_.counting();
    out.counter = counter();
    out.sample_seconds = options_.sample_ms / 1e3;
    out.threads = options_.threads;
    out.cold = options_.cache == "cold";
    out.most_gflop = options_.max_work;
    out.mistrusted = options_.mistrusted;
    out.unjudged = options_.unjudged;
    out.untrusted = options_.isolation.untrusted != IsolationOptions::Untrusted::kNo;
    if (options_.max_time.count() > 0) out.deadline = std::chrono::steady_clock::now() + options_.max_time;
    out.stop = interrupted;
    out.progress = progress.phases();
    out.ended = [this, &progress](const BenchResult& result, const WorkloadResult& workload) {
      progress.clear();
      const bool counting = options_.counting();
      if (tells()) fmt::print("{}", counting ? counts_text(workload) : workload_text(workload));
      if (samples_file_.empty()) return;
      if (result.workloads.size() == 1) {
        const auto context = context_now(result);
        write_file(samples_file_, counting ? counts_head(context) : samples_head(context));
      }
      write_file(samples_file_, counting ? counts_of(workload, counter()) : samples_of(workload), true);
    };
    return out;
  }

  // What each contestant claims about an op of the workloads: the terms of its verdicts.
  std::vector<std::pair<std::string, Claims>> terms_here() const {
    std::vector<std::string> ops;
    for (const Workload& workload : workloads_) ops.emplace_back(spec_of(workload.c.op).word);
    std::vector<std::pair<std::string, Claims>> out;
    for (const auto& [name, terms] : contestants_.terms) {
      for (const Claims& claims : terms_about(terms, ops)) out.emplace_back(name, claims);
    }
    return out;
  }

  void print_terms() const {
    for (const auto& [name, claims] : terms_here()) fmt::print("{}: {}", name, terms_lines({claims}));
  }

  // With the terms as "terms/cpu/block_lstm_grad_v2", because a context is a list of names and texts; and, for
  // programs, all claims as JSON.
  std::map<std::string, std::string> context_now(const BenchResult& result) const {
    std::map<std::string, std::string> out = context_of(machine_, build_, limits_, bench_options_, result);
    for (const auto& [name, claims] : terms_here()) {
      out[fmt::format("terms/{}/{}", name, claims.spec().word)] = terms_text(claims);
    }
    for (const auto& [name, terms] : contestants_.terms) out[fmt::format("claims/{}", name)] = to_json(terms).dump();
    return out;
  }

  // What counts instructions in the processes that are timed.
  std::string counter() const { return callgrind_ ? "callgrind" : no_hardware_counter().empty() ? "hardware" : ""; }

  void finish(const BenchResult& result) {
    if (options_.counting()) return print_terms();
    const std::size_t missing = workloads_.size() - result.workloads.size();
    std::map<std::string, std::string> context = context_now(result);
    const std::map<std::string, std::string> conduct = conduct_of_candidates();
    for (const auto& [name, text] : conduct) context[kConductKey + name] = text;
    context["ended"] = interrupted() ? "interrupted" : missing > 0 ? "max-time" : "complete";
    add_context(context);
    const std::vector<benchmark::BenchmarkReporter::Run> runs = google_runs(result);
    const auto text = [&runs](const std::string& format) {
      std::ostringstream out;
      report(runs, format, out);
      return out.str();
    };
    if (!options_.out.empty()) write_file(options_.out, text("json"));
    if (!options_.google.out.empty()) {
      write_file(options_.google.out, text(options_.google.out_format.empty() ? "json" : options_.google.out_format));
    }
    if (!tells()) {
      fmt::print("{}", text(options_.google.format));
      return;
    }
    fmt::print("{}", closing_text(result));
    print_terms();
    for (const auto& [name, did] : conduct) fmt::print("{}: {}\n", name, did);
    if (missing > 0 && !interrupted())
      fmt::print("not run: {} of {} workloads, because --max-time was reached\n", missing, workloads_.size());
    if (interrupted()) fmt::print("interrupted after {} of {} workloads\n", result.workloads.size(), workloads_.size());
  }

  // What each confined implementation loaded and was refused.
  std::map<std::string, std::string> conduct_of_candidates() const {
    std::map<std::string, std::string> out;
    for (std::size_t k = 0; k < contestants_.candidates.size(); ++k) {
      const std::string conduct = contestants_.candidates[k]->conduct();
      if (!conduct.empty()) out[contestants_.terms[k].first] = conduct;
    }
    return out;
  }

  int exit_code(const BenchResult& result) const {
    if (interrupted()) return kInterrupted;
    bool failed = false, harness = false, all_certain = result.workloads.size() == workloads_.size();
    std::set<std::string> all, timed;
    for (const WorkloadResult& workload : result.workloads) {
      for (const Entry& entry : workload.entries) {
        const Verdict& verdict = entry.verdict;
        harness = harness || (verdict.status == Status::kBroken && verdict.reason.starts_with("harness:"));
        failed = failed || verdict.status == Status::kFailed || verdict.status == Status::kBroken;
        all_certain = all_certain && verdict.status != Status::kMistrusted && entry.doubt.empty();
        all.insert(entry.implementation);
        if (entry.timed()) timed.insert(entry.implementation);
      }
    }
    if (harness) return kSelfCheck;
    if (failed) return kFailed;
    // Each untrusted implementation must have been timed itself: a time of another one proves nothing about it.
    if (bench_options_.untrusted) return all_certain && !timed.empty() && timed == all ? kGood : kInconclusive;
    return options_.strict && !(all_certain && !timed.empty()) ? kInconclusive : kGood;
  }

  const BenchArguments& options_;
  const Build build_;
  const std::vector<Workload> workloads_;
  std::unique_ptr<Callgrind> callgrind_;
  Contestants contestants_;
  const std::string samples_file_;
  Machine machine_;
  Limits limits_;
  BenchOptions bench_options_;
};

}  // namespace

int run_bench(const BenchArguments& options) { return BenchRun(options)(); }

}  // namespace backgauge::cli
