// SPDX-License-Identifier: Apache-2.0
#include "perf/results/results.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "perf/meter/statistics.h"

namespace backgauge {
double Entry::seconds() const {
  std::vector<double> all;
  for (const Sample& sample : samples) all.push_back(sample.seconds);
  return median(std::move(all));
}

std::vector<double> Entry::known(double Sample::*number) const {
  std::vector<double> out;
  for (const Sample& sample : samples) {
    if (std::isfinite(sample.*number)) out.push_back(sample.*number);
  }
  return out;
}

std::string_view Entry::word() const {
  if (!doubt.empty()) return "IMPLAUSIBLE";
  return unjudged ? "UNJUDGED" : verdict_word(verdict.status);
}

double Entry::error_over_bound() const {
  if (unjudged) return std::numeric_limits<double>::quiet_NaN();
  double worst = 0;
  for (const TensorReport& tensor : verdict.tensors) worst = std::max(worst, tensor.max_ratio);
  return worst;
}

double WorkloadResult::gflops(const Entry& entry) const {
  return entry.timed() ? work.flops / entry.seconds() / kGiga : 0;
}

double WorkloadResult::gbps(const Entry& entry) const {
  return entry.timed() ? work.bytes / entry.seconds() / kGiga : 0;
}

double WorkloadResult::share_of_limit(const Entry& entry) const {
  if (entry.on_device) {
    const double rate = work.limited_by == LimitedBy::kBandwidth ? gbps(entry) : gflops(entry);
    return entry.device_limit > 0 ? rate / entry.device_limit : 0;
  }
  if (work.limited_by == LimitedBy::kBandwidth) return copy_gbps > 0 ? gbps(entry) / copy_gbps : 0;
  std::vector<double> fma_references;
  for (const Sample& sample : entry.samples) fma_references.push_back(sample.fma_gflops);
  const double limit = median(std::move(fma_references));
  return limit > 0 ? gflops(entry) / limit : 0;
}

std::size_t BenchResult::samples() const {
  std::size_t count = 0;
  for (const WorkloadResult& result : workloads) {
    for (const Entry& entry : result.entries) count += entry.samples.size();
  }
  return count;
}

std::size_t BenchResult::disturbed() const {
  std::size_t count = 0;
  for (const WorkloadResult& result : workloads) {
    for (const Entry& entry : result.entries) {
      count += static_cast<std::size_t>(std::ranges::count(entry.samples, true, &Sample::disturbed));
    }
  }
  return count;
}

}  // namespace backgauge
