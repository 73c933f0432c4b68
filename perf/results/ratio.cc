// SPDX-License-Identifier: Apache-2.0
#include "perf/results/ratio.h"

#include <algorithm>
#include <vector>

#include "perf/meter/statistics.h"

namespace backgauge {
namespace {

// A call that waits now and then for a page or a lock is still one that computes (as in reports/, compare/blocks.py).
constexpr double kMostWaiting = 0.1;

bool computes_alone(const Entry& entry, int threads) {
  const auto waiting = std::ranges::count_if(entry.samples, [](const Sample& sample) { return sample.waits > 0; });
  return threads == 1 &&
         std::ranges::all_of(entry.samples,
                             [](const Sample& sample) { return sample.waits >= 0 && sample.cpu_seconds > 0; }) &&
         static_cast<double>(waiting) <= kMostWaiting * static_cast<double>(entry.samples.size());
}

bool mostly_disturbed(const Entry& entry) {
  return 2 * std::ranges::count(entry.samples, true, &Sample::disturbed) > std::ssize(entry.samples);
}

}  // namespace

Ratio ratio_of(const Entry& base, const Entry& entry, int threads) {
  if (entry.unjudged || base.unjudged) return {0, "unjudged"};
  if (&base == &entry) return {1, ""};
  const bool by_cpu = computes_alone(base, threads) && computes_alone(entry, threads);
  if (!by_cpu && (mostly_disturbed(base) || mostly_disturbed(entry))) return {0, "disturbed"};
  const auto seconds = by_cpu ? &Sample::cpu_seconds : &Sample::seconds;
  std::vector<double> ratios, of_base, of_entry;
  for (const Sample& sample : entry.samples) {
    of_entry.push_back(sample.*seconds);
    const auto same = std::ranges::find(base.samples, sample.round, &Sample::round);
    if (same != base.samples.end()) ratios.push_back((*same).*seconds / sample.*seconds);
  }
  for (const Sample& sample : base.samples) of_base.push_back(sample.*seconds);
  const auto [low, high] = median_range(ratios);
  if (!ratios.empty() && high > kMostSpread * low) return {0, "spread"};
  return {median(of_base) / median(of_entry), ""};
}

}  // namespace backgauge
