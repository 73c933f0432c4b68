// SPDX-License-Identifier: Apache-2.0
// backgauge bench: judges and times implementations on workloads, in interleaved rounds.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/bench/bench_run.h"
#include "perf/machine/machine.h"

namespace backgauge::cli {
namespace {

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

int bench(const BenchArguments& options) {
  if (const std::string why = unfit_for_timing(this_build()); !why.empty()) {
    throw CommandError{kUsage, why + ": its times would be meaningless; configure with -DCMAKE_BUILD_TYPE=Release"};
  }
  if (options.google.list_tests) {
    for (const Workload& workload : chosen_workloads(options)) fmt::print("{}\n", workload.name());
    return kGood;
  }
  return run_bench(options);
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
      throw CommandError{kUsage, "--measure=instructions: Google Benchmark's formats cannot hold counts"};
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
      "5 see --strict, which --untrusted includes for each implementation; 6 the checker or the machine failed; 130 "
      "interrupted.");
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
