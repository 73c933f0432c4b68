// SPDX-License-Identifier: Apache-2.0
#include "perf/results/google_benchmark.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <memory>
#include <ostream>
#include <regex>

#include "perf/meter/statistics.h"
#include "properties/case/line/case_attributes.h"

namespace backgauge {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

constexpr double kMilli = 1e3, kMicro = 1e6;

class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override { all.insert(all.end(), runs.begin(), runs.end()); }

  std::vector<Run> all;
};

bool parse(const std::string& text, auto& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size() && number > 0 &&
         std::isfinite(static_cast<double>(number));
}

std::string take(GoogleFlags& flags, const std::string& key, const std::string& value) {
  const auto is_format = [&] { return value == "console" || value == "json"; };
  constexpr const char* kFormats = "expected console or json";
  if (key == "filter") {
    flags.filter = value;
    try {
      flags.matches("");
    } catch (const std::regex_error&) {
      return "expected a regular expression";
    }
  } else if (key == "format") {
    flags.format = value;
    return is_format() ? "" : kFormats;
  } else if (key == "out_format") {
    flags.out_format = value;
    return is_format() ? "" : kFormats;
  } else if (key == "out") {
    flags.out = value;
    return value.empty() ? "expected a file" : "";
  } else if (key == "min_time") {
    return parse(value, flags.min_time) ? "" : "expected seconds above 0";
  } else if (key == "repetitions") {
    return parse(value, flags.repetitions) ? "" : "expected a whole number above 0";
  }
  return "";
}

// Removes from a name what the library adds to it, which is the same for all.
Run named(Run run, const std::string& name, int family) {
  run.run_name = {};
  run.run_name.function_name = name;
  run.family_index = family;
  run.per_family_instance_index = 0;
  return run;
}

void add_counters(Run& run, const WorkloadResult& result, const Entry& entry, double seconds, double fma_gflops) {
  const Case& c = result.workload.c;
  const double gflops = result.work.flops / seconds / kGiga, gbps = result.work.bytes / seconds / kGiga;
  const bool arithmetic = result.work.limited_by == LimitedBy::kArithmetic;
  const double of_cpu = arithmetic ? fma_gflops : result.copy_gbps;
  const double limit = entry.on_device ? entry.device_limit : of_cpu;
  if (result.work.flops > 0) run.counters["GFLOP/s"] = gflops;
  run.counters["GB/s"] = gbps;
  if (limit > 0) run.counters["share_of_limit"] = (arithmetic ? gflops : gbps) / limit;
  if (entry.on_device) run.counters["on_device"] = 1;
  if (entry.unjudged) {
    run.counters["unjudged"] = 1;
  } else {
    run.counters["error_over_bound"] = entry.error_over_bound();
  }
  if (entry.verdict.status == Status::kMistrusted) run.counters["mistrusted"] = 1;
  run.counters["first_call_ms"] = entry.first_call * kMilli;
  if (entry.empty_call > 0) run.counters["empty_call_us"] = entry.empty_call * kMicro;
  for (const SizeSpec& size : spec_of(c.op).sizes()) {
    if (size.is_dim()) run.counters[std::string(1, size.letter)] = static_cast<double>(c.*case_member(size));
  }
}

Run error_run(const std::string& name, int family, const WorkloadResult& result, const Entry& entry) {
  Run run = named({}, name, family);
  run.run_type = Run::RT_Iteration;
  run.repetition_index = 0;
  run.repetitions = 1;
  run.iterations = 0;
  run.statistics = nullptr;
  run.threads = result.threads;
  run.time_unit = benchmark::kMillisecond;
  run.report_label = to_string(result.workload.c);
  run.error_occurred = true;
  run.error_message = std::string(entry.word());
  if (!entry.reason().empty()) run.error_message += ": " + entry.reason();
  return run;
}

void add_aggregates(std::vector<Run>& runs, std::size_t first) {
  struct Aggregate {
    const char* name;
    double (*of)(const std::vector<double>&);
  };
  constexpr Aggregate kAggregates[] = {
      {"mean", [](const std::vector<double>& all) { return mean(all); }},
      {"median", [](const std::vector<double>& all) { return median(all); }},
      {"stddev", [](const std::vector<double>& all) { return standard_deviation(all); }},
      {"cv", [](const std::vector<double>& all) { return mean(all) > 0 ? standard_deviation(all) / mean(all) : 0; }}};
  const std::vector<Run> repetitions(runs.begin() + static_cast<std::ptrdiff_t>(first), runs.end());
  for (const Aggregate& aggregate : kAggregates) {
    Run run = repetitions.front();
    run.run_type = Run::RT_Aggregate;
    run.aggregate_name = aggregate.name;
    run.aggregate_unit = std::string(aggregate.name) == "cv" ? benchmark::kPercentage : benchmark::kTime;
    run.repetition_index = Run::no_repetition_index;
    // As in the library: iterations count the repetitions, times are per repetition.
    run.iterations = static_cast<std::int64_t>(repetitions.size());
    std::vector<double> real, cpu;
    for (const Run& one : repetitions) {
      real.push_back(one.real_accumulated_time / static_cast<double>(one.iterations));
      cpu.push_back(one.cpu_accumulated_time / static_cast<double>(one.iterations));
    }
    const double scale = run.aggregate_unit == benchmark::kTime ? static_cast<double>(run.iterations) : 1;
    run.real_accumulated_time = aggregate.of(real) * scale;
    run.cpu_accumulated_time = aggregate.of(cpu) * scale;
    for (auto& [key, counter] : run.counters) {
      std::vector<double> values;
      for (const Run& one : repetitions) values.push_back(one.counters.at(key).value);
      counter.value = aggregate.of(values);
    }
    runs.push_back(std::move(run));
  }
}

}  // namespace

bool GoogleFlags::matches(const std::string& name) const {
  if (filter.empty() || filter == "all") return true;
  const bool turned = filter.front() == '-';
  return std::regex_search(name, std::regex(filter.substr(turned ? 1 : 0), std::regex::extended)) != turned;
}

GoogleFlags take_google_flags(const std::vector<std::string>& arguments, std::string& error) {
  constexpr std::string_view kPrefix = "--benchmark_";
  GoogleFlags flags;
  error.clear();
  static char executable[] = "backgauge";  // the library keeps the pointer
  std::vector<std::string> rest;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string key = argument.substr(kPrefix.size(), equals == argument.npos ? equals : equals - kPrefix.size());
    const std::string value = equals == argument.npos ? "" : argument.substr(equals + 1);
    if (key == "list_tests") {
      flags.list_tests = value.empty() || value == "true" || value == "1";
      continue;
    }
    const bool ours = key == "filter" || key == "format" || key == "out_format" || key == "out" || key == "min_time" ||
                      key == "repetitions";
    if (!ours) {
      rest.push_back(argument);
      continue;
    }
    if (const std::string why = take(flags, key, value); !why.empty()) {
      error = argument + ": " + why;
      return {};
    }
  }
  std::vector<char*> pointers = {executable};
  for (std::string& argument : rest) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) error = std::string(pointers[1]) + ": not a flag of Google Benchmark";
  return flags;
}

Run run_under_google(const std::string& name, std::int64_t calls, const std::function<double(std::int64_t)>& batch) {
  std::exception_ptr trouble;
  const auto body = [&](benchmark::State& state) {
    try {
      while (state.KeepRunningBatch(calls)) state.SetIterationTime(batch(calls));
    } catch (...) {
      trouble = std::current_exception();
      state.SkipWithError("no answer");
    }
  };
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(calls)->UseManualTime()->Unit(benchmark::kMillisecond);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, nullptr, "all");
  if (trouble) std::rethrow_exception(trouble);
  return collector.all.at(0);
}

std::vector<Run> google_runs(const BenchResult& result) {
  std::vector<Run> runs;
  int family = 0;
  for (const WorkloadResult& workload : result.workloads) {
    for (const Entry& entry : workload.entries) {
      const std::string name = entry.implementation + "/" + workload.workload.name();
      if (!entry.timed()) runs.push_back(error_run(name, family, workload, entry));
      const std::size_t first = runs.size();
      for (const Sample& sample : entry.timed() ? entry.samples : std::vector<Sample>()) {
        Run run = named(sample.run, name, family);
        run.repetition_index = static_cast<std::int64_t>(runs.size() - first);
        run.repetitions = static_cast<std::int64_t>(entry.samples.size());
        run.threads = workload.threads;
        run.report_label = to_string(workload.workload.c);
        add_counters(run, workload, entry, sample.seconds, sample.fma_gflops);
        runs.push_back(std::move(run));
      }
      if (entry.timed() && entry.samples.size() > 1) add_aggregates(runs, first);
      ++family;
    }
  }
  return runs;
}

void add_context(const std::map<std::string, std::string>& context) {
  for (const auto& [key, value] : context) benchmark::AddCustomContext(key, value);
}

void report(const std::vector<Run>& runs, const std::string& format, std::ostream& out) {
  std::unique_ptr<benchmark::BenchmarkReporter> reporter;
  if (format == "json") {
    reporter = std::make_unique<benchmark::JSONReporter>();
  } else {
    reporter = std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
  }
  reporter->SetOutputStream(&out);
  reporter->SetErrorStream(&out);
  benchmark::BenchmarkReporter::Context library;
  library.name_field_width = 0;  // the library expects the caller to set it
  for (const Run& run : runs)
    library.name_field_width = std::max(library.name_field_width, run.benchmark_name().size());
  reporter->ReportContext(library);
  for (const Run& run : runs) reporter->ReportRuns({run});
  reporter->Finalize();
}

}  // namespace backgauge
