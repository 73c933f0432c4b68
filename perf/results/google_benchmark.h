// SPDX-License-Identifier: Apache-2.0
// Google Benchmark takes every sample, and its own reporters write the results, so that schema and flags are those that
// other tools expect.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "perf/results/results.h"

namespace backgauge {

// Flags of Google Benchmark that influence a run; all others are passed to the library.
struct GoogleFlags {
  std::string filter;       // --benchmark_filter: a regular expression; a leading '-' negates it
  std::string format;       // --benchmark_format: console or json instead of the table
  std::string out;          // --benchmark_out
  std::string out_format;   // --benchmark_out_format
  double min_time = 0;      // --benchmark_min_time: seconds per sample
  int repetitions = 0;      // --benchmark_repetitions: rounds
  bool list_tests = false;  // --benchmark_list_tests

  bool matches(const std::string& name) const;
};

// On input arguments that all begin with --benchmark_. On output their values, or `error`.
GoogleFlags take_google_flags(const std::vector<std::string>& arguments, std::string& error);

// One sample: calls `batch` once for `calls` calls; it returns the seconds of all of them. Exceptions are passed on.
benchmark::BenchmarkReporter::Run run_under_google(const std::string& name, std::int64_t calls,
                                                   const std::function<double(std::int64_t)>& batch);

// All results as Google Benchmark's runs: each repetition, then mean, median, stddev, cv. A pair without a time is a
// run with an error message.
std::vector<benchmark::BenchmarkReporter::Run> google_runs(const BenchResult& result);

// Adds to the library's own context in every report from now on. Call it once per process.
void add_context(const std::map<std::string, std::string>& context);

// `format`: console or json.
void report(const std::vector<benchmark::BenchmarkReporter::Run>& runs, const std::string& format, std::ostream& out);

}  // namespace backgauge
