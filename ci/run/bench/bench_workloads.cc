// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <unordered_set>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/bench/bench_run.h"
#include "perf/workload/ranges.h"

namespace backgauge::cli {
namespace {

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
  ranges.sizes = {{'T', numbers("T", options.T)},
                  {'B', numbers("B", options.B)},
                  {'I', numbers("I", options.I)},
                  {'H', numbers("H", options.H)}};
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
    if (out.back().c.data == DataProfile::kMalformed) {
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

}  // namespace

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

}  // namespace backgauge::cli
