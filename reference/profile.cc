// SPDX-License-Identifier: Apache-2.0
#include "reference/profile.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "reference/deviation.h"
#include "reference/rounding_model.h"

namespace backgauge {
namespace {

double elapsed_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// proc(5): 5 in clear_refs sets the peak to what is resident now. If that is not allowed, a phase also shows the peak
// of the phases before it.
bool forget_peak() {
  malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << 5 << std::flush);
}

double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (double kib = 0; word == "VmHWM:" && status >> kib) return 1024 * kib;
  }
  return 0;
}

template <class Work>
Phase phase(std::string name, const Work& work) {
  forget_peak();
  const ProductWork products = product_work();
  const double elapsed = elapsed_seconds(), cpu = cpu_seconds();
  work();
  const ProductWork after = product_work();
  return {std::move(name),
          elapsed_seconds() - elapsed,
          cpu_seconds() - cpu,
          after.double_flops - products.double_flops,
          after.float_flops - products.float_flops,
          peak_bytes()};
}

template <class V>
double best_rate() {
  constexpr std::ptrdiff_t kRows = 96, kTerms = 256, kColumns = 256;  // half a MiB of float
  constexpr int kTries = 20, kTimes = 20;                             // of 3 ms or less
  const std::vector<V> x(kRows * kTerms, V{1}), y(kTerms * kColumns, V{1});
  std::vector<V> out(kRows * kColumns);
  double least = 1e9;
  for (int k = 0; k < kTries; ++k) {
    const double start = cpu_seconds();  // others may use the core too
    for (int time = 0; time < kTimes; ++time) {
      dense_product(Product<V>{x.data(), y.data(), out.data(), kRows, kTerms, kColumns});
    }
    least = std::min(least, cpu_seconds() - start);
  }
  return 2.0 * kTimes * kRows * kTerms * kColumns / least;
}

}  // namespace

ProductWork measured_product_limit() { return {best_rate<double>(), best_rate<float>()}; }

std::vector<Phase> profile_oracle(const Problem& problem, const Declared& declared) {
  const RoundingModel model = rounding_model(problem, declared);
  std::vector<Phase> out;
  out.push_back(phase("value", [&] { (void)oracle_values(problem); }));
  out.push_back(phase("bound", [&] { (void)oracle(problem, declared, RoundingErrors::kCorrelated); }));
  FirstEstimate first;
  out.push_back(phase("variance", [&] { first = first_estimate(problem, model); }));
  out.push_back(phase("noise", [&] { (void)deviations(std::move(first), problem, model); }));
  first = {};
  out.push_back(phase("oracle", [&] { (void)oracle(problem, declared, RoundingErrors::kIndependent); }));
  return out;
}

std::optional<double> growth_of_peak(const std::function<void()>& work) {
  if (!forget_peak()) return std::nullopt;
  const double before = peak_bytes();
  work();
  return peak_bytes() - before;
}

double share_of_limit(const Phase& phase, const ProductWork& limit) {
  if (!(phase.cpu > 0)) return 0;
  return (phase.double_flops / limit.double_flops + phase.float_flops / limit.float_flops) / phase.cpu;
}

}  // namespace backgauge
