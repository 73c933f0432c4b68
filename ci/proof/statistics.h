// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace backgauge::cli {

// Clopper-Pearson: the share of successes below which `successes` or more in `trials` have a chance under 5 %.
double lower_limit_of_share(int successes, int trials);

}  // namespace backgauge::cli
