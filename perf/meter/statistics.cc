// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace backgauge {

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::ranges::sort(numbers);
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

double quartile(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto place = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 4);
  std::ranges::nth_element(numbers, place);
  return *place;
}

double mean(const std::vector<double>& numbers) {
  if (numbers.empty()) return 0;
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double standard_deviation(const std::vector<double>& numbers) {
  if (numbers.size() < 2) return 0;
  const double center = mean(numbers);
  double sum = 0;
  for (const double number : numbers) sum += (number - center) * (number - center);
  return std::sqrt(sum / static_cast<double>(numbers.size() - 1));
}

double disagreement(const std::vector<double>& a, const std::vector<double>& b) {
  const double base = median(b);
  return base > 0 ? std::abs(median(a) / base - 1) : 0;
}

// The k-th smallest and the k-th largest enclose the median unless fewer than k of n numbers lie on one side of it, of
// which each does with probability 1/2.
Range median_range(std::vector<double> numbers) {
  if (numbers.empty()) return {};
  std::ranges::sort(numbers);
  const auto count = static_cast<double>(numbers.size());
  constexpr double kOutside = 0.05;
  double exactly = std::pow(0.5, count), fewer = 0;  // that exactly k - 1, that fewer than k lie on one side
  std::size_t k = 0;
  while (2 * (fewer + exactly) <= kOutside) {
    fewer += exactly;
    ++k;
    exactly *= (count - static_cast<double>(k) + 1) / static_cast<double>(k);
  }
  const std::size_t cut = k == 0 ? 0 : k - 1;
  return {numbers[cut], numbers[numbers.size() - 1 - cut]};
}

}  // namespace backgauge
