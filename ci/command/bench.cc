// SPDX-License-Identifier: Apache-2.0
// backgauge bench: judges and times implementations on workloads, in interleaved rounds.
#include "perf/bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/contestants.h"
#include "ci/run/crash_report.h"
#include "ci/run/interrupt.h"
#include "ci/run/preflight.h"
#include "ci/run/progress.h"
#include "perf/context.h"
#include "perf/counts.h"
#include "perf/google_benchmark.h"
#include "perf/ranges.h"
#include "perf/samples.h"
#include "perf/text_table.h"

namespace backgauge::cli {
namespace {

struct BenchArguments {
  std::string impl = "cpu", suite, cache = "hot", out, measure = "time";
  std::vector<std::string> lines;
  std::string T, B, I, H, dtype;
  int threads = 1;
  int rounds = 9;
  int blocks = 1;
  int launches = 3;  // a slow one of two kinds is drawn three times in a row by one contestant in eight
  double sample_ms = 25, max_work = BenchOptions().most_gflop;
  std::chrono::seconds max_time{0};  // 0: none
  bool quick = false, strict = false, mistrusted = false, unjudged = false, impatient = false;

  bool counting() const { return measure == "instructions"; }
  IsolationOptions isolation{};
  GoogleFlags google{};
};

// --quick: within a minute on two cores, judging included.
constexpr std::chrono::seconds kQuickTime{50};
constexpr int kQuickRounds = 5;
constexpr int kQuickLaunches = 1;
constexpr double kQuickSampleMs = 10;

// A count repeats, and the second sample shows whether it does.
constexpr int kCountedRounds = 2;

// A sample must be longer than the clock's resolution, and shorter than a minute.
constexpr double kLeastSampleMs = 0.001, kMostSampleMs = 60'000;
constexpr int kMostRounds = 10'000, kMostBlocks = 1000;

// Nobody waits for more; ranges whose product is larger are a slip of the keyboard, and would fill the memory.
constexpr std::size_t kMostWorkloads = 100'000;

Ranges ranges_of(const BenchArguments& options) {
  Ranges ranges;
  const auto numbers = [](const std::string& name, const std::string& text) {
    if (text.empty()) return std::vector<std::int64_t>{};
    std::string error;
    std::vector<std::int64_t> out = parse_numbers(text, error);
    if (!error.empty()) throw CommandError{kUsage, fmt::format("--{}={}: {}", name, text, error)};
    return out;
  };
  ranges.T = numbers("T", options.T);
  ranges.B = numbers("B", options.B);
  ranges.I = numbers("I", options.I);
  ranges.H = numbers("H", options.H);
  std::istringstream words(options.dtype);
  for (std::string word; std::getline(words, word, ',');) {
    const std::int32_t dtype = enumerator_of(dtype_word, word);
    if (dtype == 0 || dtype == BACKGAUGE_INT64) {
      throw CommandError{kUsage, fmt::format("--dtype={}: expected some of f16, f32, f64, bf16", options.dtype)};
    }
    ranges.dtypes.push_back(static_cast<backgauge_dtype>(dtype));
  }
  if (combinations(ranges) > static_cast<double>(kMostWorkloads)) {
    throw CommandError{kUsage, fmt::format("the ranges have {:.3g} combinations, at most {} are accepted",
                                           combinations(ranges), kMostWorkloads)};
  }
  return ranges;
}

std::vector<Workload> named_workloads(const BenchArguments& options) {
  std::vector<Workload> out;
  for (const std::string& line : options.lines) {
    out.push_back({"case", parse_case_or_throw(line)});
    if (out.back().c.data == DataClass::kMalformed) {
      throw CommandError{kUsage, fmt::format("--case={}: a malformed call cannot be timed", line)};
    }
  }
  if (!out.empty() && options.suite.empty()) return out;
  std::string error;
  const std::filesystem::path folder = shapes_folder(error);
  if (!error.empty()) throw CommandError{kUsage, error};
  const std::string name = options.suite.empty() ? "quick" : options.suite;
  for (Workload& workload : suite(folder, name, error)) out.push_back(std::move(workload));
  if (!error.empty()) throw CommandError{kUsage, fmt::format("--suite={}: {}", name, error)};
  return out;
}

std::vector<Workload> chosen_workloads(const BenchArguments& options) {
  const Ranges ranges = ranges_of(options);
  std::vector<Workload> out;
  std::unordered_set<std::string> seen;
  for (const Workload& workload : named_workloads(options)) {
    for (const Case& c : expand(workload.c, ranges)) {
      Workload one{workload.suite, c};
      if (!seen.insert(to_string(c)).second || !options.google.matches(one.name())) continue;
      if (out.size() == kMostWorkloads)
        throw CommandError{kUsage, fmt::format("more than {} workloads", kMostWorkloads)};
      out.push_back(std::move(one));
    }
  }
  if (out.empty()) throw CommandError{kUsage, "no workload is left: ranges and --benchmark_filter exclude all"};
  return out;
}

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
    if (!options_.counting()) limits_ = probe_limits(machine_, options_.threads);
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
    out.progress = [&progress](const std::string& phase, std::size_t done, std::size_t total) {
      progress.show_phase(phase, done, total);
    };
    out.ended = [this, &progress](const BenchResult& result, const WorkloadResult& workload) {
      progress.clear();
      const bool counting = options_.counting();
      if (tells()) fmt::print("{}", counting ? counts_text(workload) : workload_text(workload));
      if (samples_file_.empty()) return;
      if (result.workloads.size() == 1) {
        const auto context = context_of(machine_, build_, limits_, bench_options_, result);
        write_file(samples_file_, counting ? counts_head(context) : samples_head(context));
      }
      write_file(samples_file_, counting ? counts_of(workload, counter()) : samples_of(workload), true);
    };
    return out;
  }

  // What counts instructions in the processes that are timed.
  std::string counter() const { return callgrind_ ? "callgrind" : no_hardware_counter().empty() ? "hardware" : ""; }

  void finish(const BenchResult& result) {
    if (options_.counting()) return;
    const std::size_t missing = workloads_.size() - result.workloads.size();
    std::map<std::string, std::string> context = context_of(machine_, build_, limits_, bench_options_, result);
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
    for (const auto& candidate : contestants_.candidates) {
      if (const std::string conduct = candidate->conduct(); !conduct.empty()) {
        fmt::print("{}: {}", candidate->table().name, conduct);
      }
    }
    if (missing > 0 && !interrupted())
      fmt::print("not run: {} of {} workloads, because --max-time was reached\n", missing, workloads_.size());
    if (interrupted()) fmt::print("interrupted after {} of {} workloads\n", result.workloads.size(), workloads_.size());
  }

  int exit_code(const BenchResult& result) const {
    if (interrupted()) return kInterrupted;
    bool failed = false, harness = false, timed = false, all_certain = result.workloads.size() == workloads_.size();
    for (const WorkloadResult& workload : result.workloads) {
      for (const Entry& entry : workload.entries) {
        const Verdict& verdict = entry.verdict;
        harness = harness || (verdict.status == Status::kBroken && verdict.reason.starts_with("harness:"));
        failed = failed || verdict.status == Status::kFailed || verdict.status == Status::kBroken;
        all_certain = all_certain && verdict.status != Status::kMistrusted && entry.doubt.empty();
        timed = timed || entry.timed();
      }
    }
    if (harness) return kSelfCheck;
    if (failed) return kFailed;
    return options_.strict && !(all_certain && timed) ? kInconclusive : kGood;
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

int bench(const BenchArguments& options) {
  if (const std::string why = unfit_for_timing(this_build()); !why.empty()) {
    throw CommandError{kUsage, why + ": its times would be meaningless; configure with -DCMAKE_BUILD_TYPE=Release"};
  }
  if (options.google.list_tests) {
    for (const Workload& workload : chosen_workloads(options)) fmt::print("{}\n", workload.name());
    return kGood;
  }
  return BenchRun(options)();
}

// The settings of --quick, unless they were given explicitly.
void settle(BenchArguments& options, const Subcommand& command) {
  std::string error;
  for (const std::string& extra : command.unknown_options()) {
    if (!extra.starts_with("--benchmark_"))
      throw CommandError{kUsage, extra + ": unknown option; see backgauge bench --help"};
  }
  options.google = take_google_flags(command.unknown_options(), error);
  if (!error.empty()) throw CommandError{kUsage, error};
  if (options.quick) {
    if (!command.was_given("--reps")) options.rounds = kQuickRounds;
    if (!command.was_given("--min-time")) options.sample_ms = kQuickSampleMs;
    if (!command.was_given("--launches")) options.launches = kQuickLaunches;
    if (options.max_time.count() == 0) options.max_time = kQuickTime;
  }
  options.isolation.threads = options.threads;
  if (options.counting()) {
    if (!options.google.out.empty() || !options.google.format.empty()) {
      throw CommandError{kUsage, "--measure=instructions: counts are no times, which Google Benchmark's formats hold"};
    }
    for (const char* other : {"--untrusted", "--unjudged", "--quick", "--min-time", "--launches", "--cache"}) {
      if (command.was_given(other))
        throw CommandError{kUsage, fmt::format("{}: not with --measure=instructions", other)};
    }
    if (options.isolation.isolate == "off") {
      throw CommandError{kUsage, "--isolate=off: --measure=instructions counts in processes of their own"};
    }
    if (!command.was_given("--reps")) options.rounds = kCountedRounds;
    options.launches = 1;
  }
  if (options.unjudged) {
    for (const char* other : {"--strict", "--mistrusted", "--untrusted"}) {
      if (command.was_given(other)) {
        throw CommandError{kUsage, fmt::format("{}: results are judged for it, and --unjudged judges none", other)};
      }
    }
    // The limit is there because judging takes long.
    if (!command.was_given("--max-work")) options.max_work = std::numeric_limits<double>::infinity();
  }
  if (options.google.repetitions > kMostRounds) {
    throw CommandError{kUsage, fmt::format("--benchmark_repetitions={}: expected at most {}",
                                           options.google.repetitions, kMostRounds)};
  }
  if (options.google.min_time * 1e3 > kMostSampleMs) {
    throw CommandError{kUsage, fmt::format("--benchmark_min_time={:g}: expected at most {:g} s",
                                           options.google.min_time, kMostSampleMs / 1e3)};
  }
  if (options.google.repetitions > 0) options.rounds = options.google.repetitions;
  if (options.google.min_time > 0) options.sample_ms = options.google.min_time * 1e3;
  if (options.rounds > kMostRounds / options.blocks) {
    throw CommandError{kUsage, fmt::format("--blocks={} --reps={}: expected at most {} rounds in all", options.blocks,
                                           options.rounds, kMostRounds)};
  }
  for (std::string* file : {&options.out, &options.google.out}) {
    // As seen from here: an implementation judged in this process may go elsewhere.
    if (!file->empty()) *file = std::filesystem::absolute(*file).string();
  }
}

}  // namespace

void add_bench(CommandLine& line) {
  auto options = std::make_shared<BenchArguments>();
  Subcommand command = line.subcommand("bench", "check and time implementations side by side");
  command.allow_unknown_options();
  command.footer(
      "A result that FAILED is not timed; nor is one that is MISTRUSTED (the allowed error is too wide to prove\n"
      "anything), without --mistrusted. IMPLAUSIBLE: the time is shorter than the limits of this machine allow.\n"
      "Options of Google Benchmark work too: --benchmark_filter, --benchmark_format, --benchmark_out, ...\n"
      "Exit codes: 0 success; 1 a result FAILED or is BROKEN; 2 wrong usage; 3 an implementation cannot be loaded;\n"
      "5 see --strict; 6 the checker or the machine failed; 130 interrupted.");
  command
      .option("--impl", options->impl,
              "comma-separated: implementations, adapters, paths of shared libraries or Python files")
      .envname("BACKGAUGE_IMPL");
  command
      .option("--suite", options->suite,
              "list of workloads: quick (default), another that `backgauge list --suites` prints, or all")
      .envname("BACKGAUGE_SUITE");
  command.option("--case", options->lines, "time this case line; may be repeated").default_text("");
  command
      .option("--measure", options->measure,
              "time, or instructions: counts of one call, which other load does not change (perf/README.md)")
      .check(one_of({"time", "instructions"}));
  command.flag("--quick", options->quick, "shorter rounds, and an end within a minute");
  command.option("--T", options->T, "numbers of steps, instead of those of the workloads: 25 or 1:8 or 64:512:*2");
  command.option("--B", options->B, "batch sizes, in the same form");
  command.option("--I", options->I, "input sizes (default: equal to H where they are equal in a workload)");
  command.option("--H", options->H, "hidden sizes");
  command.option("--dtype", options->dtype, "comma-separated: f16, f32, f64, bf16");
  command.option("--threads", options->threads, "number of threads that an implementation may use")
      .check(whole_number_between(1, 1024))
      .envname("BACKGAUGE_THREADS");
  command.option("--reps", options->rounds, "number of rounds; each takes a sample of every implementation")
      .check(whole_number_between(1, kMostRounds))
      .envname("BACKGAUGE_REPS");
  command.option("--min-time", options->sample_ms, "shortest duration of a sample, in ms")
      .check(number_from(kLeastSampleMs, kMostSampleMs));
  command.option("--max-work", options->max_work, "skip workloads that need more GFLOP than this (--unjudged: none)")
      .check(number_from(1e-9, 1e9));
  command.option("--launches", options->launches, "processes started per implementation, of which the fastest is timed")
      .check(whole_number_between(1, 100));
  command
      .option("--blocks", options->blocks,
              "how often to start new processes and time --reps rounds in them: processes differ in speed")
      .check(whole_number_between(1, kMostBlocks));
  command.flag("--impatient", options->impatient,
               "neither wait for a quiet machine nor repeat disturbed samples, for comparisons of pairs");
  command.option("--cache", options->cache, "hot, or cold: caches are emptied before each call")
      .check(one_of({"hot", "cold"}))
      .envname("BACKGAUGE_CACHE");
  add_duration(command, "--max-time", options->max_time, "start no workload after this time: 90s, 5m, 2h")
      .envname("BACKGAUGE_MAX_TIME");
  command.option("--out", options->out, "JSON file in the format of Google Benchmark; samples are written next to it")
      .envname("BACKGAUGE_OUT");
  command.flag("--mistrusted", options->mistrusted, "also time MISTRUSTED results, and mark them");
  command.flag("--unjudged", options->unjudged,
               "time without judging, for workloads too large for the oracle; such rows are marked and never compared");
  command.flag(
      "--strict", options->strict,
      "exit with code 5 if a result is MISTRUSTED or IMPLAUSIBLE, a workload was not run, or nothing was timed");
  add_isolation_options(command, options->isolation);
  command.action([options, command] {
    settle(*options, command);
    const int code = bench(*options);
    if (options->isolation.isolate != "off") return code;
    // A library's exit handlers, in this process, must not change the exit code.
    std::fflush(nullptr);
    _exit(code);
  });
}

}  // namespace backgauge::cli
