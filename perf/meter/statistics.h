// SPDX-License-Identifier: Apache-2.0
// Statistics of samples. Those of an empty list are 0.
#pragma once

#include <vector>

namespace backgauge {

double median(std::vector<double> numbers);
double quartile(std::vector<double> numbers);  // the lower one
double mean(const std::vector<double>& numbers);
double standard_deviation(const std::vector<double>& numbers);  // with n - 1; 0 for one number

// Between which two of the numbers the median of their distribution lies, whatever distribution that is, in at least 95
// of 100 cases; of fewer than six numbers, the smallest and the largest.
struct Range {
  double low = 0, high = 0;
};
Range median_range(std::vector<double> numbers);

// |median(a) / median(b) - 1|: the noise, for two series of the same contestant.
double disagreement(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace backgauge
