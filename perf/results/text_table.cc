// SPDX-License-Identifier: Apache-2.0
#include "perf/results/text_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "perf/meter/statistics.h"
#include "perf/results/ratio.h"

namespace backgauge {
namespace {

// Three digits and a unit that keeps them readable.
std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:#.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:#.3g} ms", seconds * 1e3);
  return fmt::format("{:#.3g} us", seconds * 1e6);
}

const Entry* first_timed(const WorkloadResult& result) {
  const auto found = std::ranges::find_if(result.entries, &Entry::timed);
  return found == result.entries.end() ? nullptr : &*found;
}

// What was not judged is compared with nothing.
std::string ratio_text(const Entry& base, const Entry& entry, int threads) {
  const Ratio ratio = ratio_of(base, entry, threads);
  if (entry.unjudged) return "-";
  return ratio.missing.empty() ? fmt::format("{:.3f}", ratio.value) : ratio.missing;
}

std::string error_text(const Entry& entry) {
  return entry.unjudged ? "unjudged" : fmt::format("{:.3f}", entry.error_over_bound());
}

// Facts that the driver does not say are left out; so are limits that are not known.
std::string device_text(const device::Facts& facts, const DeviceLimits& limits) {
  std::vector<std::string> known = {facts.name.empty() ? "a CUDA device" : facts.name};
  const auto say = [&known](bool is_known, const std::string& text) {
    if (is_known) known.push_back(text);
  };
  say(facts.multiprocessors > 0,
      fmt::format("{} multiprocessors, at most {} MHz", facts.multiprocessors, facts.clock_mhz));
  say(facts.memory_bytes > 0, fmt::format("{:.0f} GiB", static_cast<double>(facts.memory_bytes) / 0x1p30));
  say(!facts.driver.empty(), "driver " + facts.driver);
  say(!facts.cuda_runtime.empty(), fmt::format("CUDA {} (driver: {})", facts.cuda_runtime, facts.cuda_of_driver));
  say(!limits.products_version.empty(), "cuBLASLt " + limits.products_version);
  std::vector<std::string> rates;
  for (const auto& [word, gflops] :
       {std::pair{"float16", limits.f16}, std::pair{"bfloat16", limits.bf16}, std::pair{"TF32", limits.tf32},
        std::pair{"float32", limits.f32}, std::pair{"float64", limits.f64}}) {
    if (gflops > 0) rates.push_back(fmt::format("{} {:.3g}", word, gflops / 1e3));
  }
  const std::string missing = limits.products_missing.empty() ? "not measured" : limits.products_missing;
  const auto rate = [](double gbps) { return gbps > 0 ? fmt::format("{:.0f}", gbps) : "unknown"; };
  return fmt::format("device  {}\n        products TFLOP/s {}; copy GB/s L2 {}, memory {}; launch {:.2g} us\n",
                     fmt::join(known, ", "),
                     rates.empty() ? "unknown: " + missing : fmt::format("{}", fmt::join(rates, ", ")),
                     rate(limits.copy_l2), rate(limits.copy_memory), limits.launch_us);
}

std::string share_text(double share) { return share > 0 ? fmt::format("{:.0f} %", 100 * share) : "-"; }

std::string digits(const std::vector<double>& counts) {
  return counts.empty() ? "-" : fmt::format("{:.0f}", median(counts));
}

}  // namespace

std::string heading_text(const Machine& machine, const Build& build, const Limits& limits,
                         const BenchOptions& options) {
  const auto row = [](const Bandwidth& b) {
    return fmt::format("L1 {:.0f}, L2 {:.0f}, L3 {:.0f}, memory {:.1f}", b.l1, b.l2, b.l3, b.memory);
  };
  std::string measured;
  if (limits.fma_f32 > 0) {
    measured = fmt::format("limits  multiply-add {:.1f} GFLOP/s float32, {:.1f} float64; read GB/s {}; copy GB/s {}\n",
                           limits.fma_f32, limits.fma_f64, row(limits.read), row(limits.copy));
  }
  if (machine.device) measured += device_text(*machine.device, limits.device.value_or(DeviceLimits{}));
  const std::string processes =
      options.launches == 1 ? "one process" : fmt::format("the best of {} processes", options.launches);
  return fmt::format(
      "backgauge {} ({}), {}, {}\n{}, {}, {} of {} cores, {} caches\n{}times   from {} of each implementation{}\n",
      build.version, build.commit, build.compiler, build.type, machine.cpu_model, machine.isa, options.threads,
      machine.cores, options.cold ? "cold" : "hot", measured, processes,
      options.unjudged ? "; nothing was judged, so the results may be wrong" : "");
}

std::string workload_text(const WorkloadResult& result) {
  const bool arithmetic = result.work.limited_by == LimitedBy::kArithmetic;
  std::string out = fmt::format("\n{}\n", to_string(result.workload.c));
  std::size_t width = 14;
  for (const Entry& entry : result.entries) width = std::max(width, entry.implementation.size());
  out += fmt::format("  {:<{}} {:>10} {:>10} {:>9} {:>9} {:>12} {:>9}\n", "", width, "time", "first call",
                     arithmetic ? "GFLOP/s" : "GB/s", "of limit", "error/bound", "ratio");
  const Entry* base = first_timed(result);
  for (const Entry& entry : result.entries) {
    if (!entry.timed()) {
      const bool was_due = entry.unjudged || entry.verdict.status == Status::kPassed;
      const std::string why = entry.reason().empty() && was_due ? "no time was left to time it" : entry.reason();
      out += fmt::format("  {:<{}} {}{}{}\n", entry.implementation, width, entry.word(), why.empty() ? "" : ": ", why);
      continue;
    }
    out += fmt::format("  {:<{}} {:>10} {:>10} {:>9.1f} {:>9} {:>12} {:>9}\n", entry.implementation, width,
                       time_text(entry.seconds()), time_text(entry.first_call),
                       arithmetic ? result.gflops(entry) : result.gbps(entry), share_text(result.share_of_limit(entry)),
                       error_text(entry), ratio_text(*base, entry, result.threads));
    if (!entry.unjudged && entry.verdict.status != Status::kPassed) {
      out += fmt::format("  {:<{}} {}: {}\n", "", width, verdict_word(entry.verdict.status), entry.verdict.reason);
    }
    if (!entry.above_limit.empty()) out += fmt::format("  {:<{}} {}\n", "", width, entry.above_limit);
    if (entry.empty_call > 0) {
      out += fmt::format("  {:<{}} {:>10} of it for an empty call\n", "", width, time_text(entry.empty_call));
    }
  }
  return out;
}

std::string counts_text(const WorkloadResult& result) {
  std::string out = fmt::format("\n{}\n", to_string(result.workload.c));
  std::size_t width = 14;
  for (const Entry& entry : result.entries) width = std::max(width, entry.implementation.size());
  out += fmt::format("  {:<{}} {:>16} {:>9} {:>16} {:>8}\n", "", width, "instructions", "spread", "cycles", "ratio");
  double first = 0;
  for (const Entry& entry : result.entries) {
    const std::vector<double> counts = entry.known(&Sample::instructions);
    if (counts.empty()) {
      const std::string why = entry.timed() ? "nothing counted" : entry.reason();
      out += fmt::format("  {:<{}} {}{}{}\n", entry.implementation, width, entry.timed() ? "SKIPPED" : entry.word(),
                         why.empty() ? "" : ": ", why);
      continue;
    }
    const auto [least, most] = std::ranges::minmax(counts);
    if (first == 0) first = median(counts);
    out += fmt::format("  {:<{}} {:>16} {:>7.3f} % {:>16} {:>8.4f}\n", entry.implementation, width, digits(counts),
                       100 * (most / least - 1), digits(entry.known(&Sample::cycles)), median(counts) / first);
  }
  return out;
}

std::string closing_text(const BenchResult& result) {
  struct Row {
    std::size_t timed = 0, pairs = 0, unjudged = 0;
    double log_ratio = 0;
    std::size_t compared = 0, left_out = 0;
  };
  std::map<std::string, Row> rows;
  std::vector<std::string> order;
  for (const WorkloadResult& workload : result.workloads) {
    const Entry* base =
        workload.entries.empty() || !workload.entries.front().timed() ? nullptr : &workload.entries.front();
    for (const Entry& entry : workload.entries) {
      if (!rows.contains(entry.implementation)) order.push_back(entry.implementation);
      Row& row = rows[entry.implementation];
      ++row.pairs;
      if (!entry.timed()) continue;
      ++row.timed;
      row.unjudged += entry.unjudged ? 1 : 0;
      if (base == nullptr || entry.unjudged) continue;
      const Ratio ratio = ratio_of(*base, entry, workload.threads);
      ++(ratio.missing.empty() ? row.compared : row.left_out);
      if (ratio.missing.empty()) row.log_ratio += std::log(ratio.value);
    }
  }
  std::string out = "\n";
  for (const std::string& name : order) {
    const Row& row = rows[name];
    out += fmt::format("{}: {} of {} workloads timed", name, row.timed, row.pairs);
    if (row.unjudged > 0) out += ", not judged";
    if (row.compared > 0 && name != order.front()) {
      out += fmt::format(", {:.3f} times as fast as {} (geometric mean of {})",
                         std::exp(row.log_ratio / static_cast<double>(row.compared)), order.front(), row.compared);
    }
    if (row.left_out > 0) out += fmt::format("; {} left out, whose samples carry no ratio", row.left_out);
    out += "\n";
  }
  out += fmt::format("{} samples, {} of them disturbed", result.samples(), result.disturbed());
  if (result.noise_known)
    out += fmt::format("; noise {:.1f} % (the first implementation compared with itself)", 100 * result.noise);
  out += "\n";
  if (result.noise > kLeastNoise) out += "warning: this machine is noisy; differences of this size mean nothing\n";
  return out;
}

}  // namespace backgauge
