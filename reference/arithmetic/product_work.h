// SPDX-License-Identifier: Apache-2.0
// Counts the multiplications of matrix products, for `backgauge oracle --profile`.
#pragma once

namespace backgauge {

// Operations (a product and a sum are two) of all dense products that this process has made so far.
struct ProductWork {
  double double_flops, float_flops;
};
ProductWork product_work();

}  // namespace backgauge
