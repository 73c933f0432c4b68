// SPDX-License-Identifier: Apache-2.0
// Of samples: numbers in, one number out. None of no numbers is 0.
#pragma once

#include <vector>

namespace backgauge {

double median(std::vector<double> numbers);
double mean(const std::vector<double>& numbers);
double standard_deviation(const std::vector<double>& numbers);  // of a sample: n - 1; 0 for one number

// |median(a) / median(b) - 1|: of two rows of the same thing, what is only noise.
double disagreement(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace backgauge
