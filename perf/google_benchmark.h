// SPDX-License-Identifier: Apache-2.0
// Google Benchmark: it takes every sample, and its own reporters write what was found, so that its schema and its flags
// are those that other tools know.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "perf/results.h"

namespace backgauge {

// Flags of Google Benchmark that decide over a run; what is not here goes to the library as it is.
struct GoogleFlags {
  std::string filter;       // --benchmark_filter: of names, '-' in front turns it around
  std::string format;       // --benchmark_format: console or json instead of the table
  std::string out;          // --benchmark_out
  std::string out_format;   // --benchmark_out_format
  double min_time = 0;      // --benchmark_min_time: seconds of one sample
  int repetitions = 0;      // --benchmark_repetitions: rounds
  bool list_tests = false;  // --benchmark_list_tests

  bool matches(const std::string& name) const;
};

// On input arguments that all begin with --benchmark_. On output what they say, or in `error` what is wrong.
GoogleFlags take_google_flags(const std::vector<std::string>& arguments, std::string& error);

// One sample: calls `batch` once for `calls` calls; it gives seconds for all of them. What it throws comes out.
benchmark::BenchmarkReporter::Run run_under_google(const std::string& name, std::int64_t calls,
                                                   const std::function<double(std::int64_t)>& batch);

// Everything as Google Benchmark's runs: each repetition, then mean, median, stddev, cv of the repetitions. A pair
// without a time is a run with an error that says why.
std::vector<benchmark::BenchmarkReporter::Run> google_runs(const BenchResult& result);

// What goes beside the library's own context into every report from now on. Once in a process.
void add_context(const std::map<std::string, std::string>& context);

// `format`: console or json.
void report(const std::vector<benchmark::BenchmarkReporter::Run>& runs, const std::string& format, std::ostream& out);

}  // namespace backgauge
