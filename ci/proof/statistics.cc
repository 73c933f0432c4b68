// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/statistics.h"

#include <cmath>

namespace backgauge::cli {
namespace {

// P(X >= successes) for X of a binomial distribution, 0 < share < 1.
double upper_tail(int successes, int trials, double share) {
  double tail = 0;
  for (int k = successes; k <= trials; ++k) {
    tail += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                     k * std::log(share) + (trials - k) * std::log1p(-share));
  }
  return tail;
}

}  // namespace

double lower_limit_of_share(int successes, int trials) {
  if (successes <= 0 || trials <= 0) return 0;
  double low = 0, high = 1;
  for (int step = 0; step < 50; ++step) {  // to 2^-50
    const double middle = (low + high) / 2;
    (upper_tail(successes, trials, middle) < 0.05 ? low : high) = middle;
  }
  return low;
}

}  // namespace backgauge::cli
