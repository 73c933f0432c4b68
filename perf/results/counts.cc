// SPDX-License-Identifier: Apache-2.0
#include "perf/results/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "perf/meter/statistics.h"
#include "perf/results/json_line.h"

namespace backgauge {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> known(const Entry& entry, double Sample::*count) {
  std::vector<double> out;
  for (const Sample& sample : entry.samples) {
    if (std::isfinite(sample.*count)) out.push_back(sample.*count);
  }
  return out;
}

std::string digits(const std::vector<double>& counts) {
  return counts.empty() ? "-" : fmt::format("{:.0f}", median(counts));
}

}  // namespace

std::string counts_head(const std::map<std::string, std::string>& context) {
  return json_line({{"schema", "backgauge.counts/1"}, {"context", context}});
}

std::string counts_of(const WorkloadResult& result, const std::string& counter) {
  std::string out;
  for (const Entry& entry : result.entries) {
    out += json_line({{"workload", to_string(result.workload.c)},
                      {"suite", result.workload.suite},
                      {"implementation", entry.implementation},
                      {"version", entry.version},
                      {"verdict", entry.word()},
                      {"reason", entry.reason()},
                      {"counter", counter},
                      {"instructions", known(entry, &Sample::instructions)},
                      {"cycles", known(entry, &Sample::cycles)}});
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
    const std::vector<double> counts = known(entry, &Sample::instructions);
    if (counts.empty()) {
      const std::string why = entry.timed() ? "nothing counted" : entry.reason();
      out += fmt::format("  {:<{}} {}{}{}\n", entry.implementation, width, entry.timed() ? "SKIPPED" : entry.word(),
                         why.empty() ? "" : ": ", why);
      continue;
    }
    const auto [least, most] = std::ranges::minmax(counts);
    if (first == 0) first = median(counts);
    out += fmt::format("  {:<{}} {:>16} {:>7.3f} % {:>16} {:>8.4f}\n", entry.implementation, width, digits(counts),
                       100 * (most / least - 1), digits(known(entry, &Sample::cycles)), median(counts) / first);
  }
  return out;
}

}  // namespace backgauge
