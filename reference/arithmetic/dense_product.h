// SPDX-License-Identifier: Apache-2.0
// Products of matrices, where the oracle spends its time on large cases.
#pragma once

#include <cstddef>

namespace backgauge {

// out[rows, cols] = x[rows, inner] y[inner, cols], all contiguous and row-major; 0 where inner is 0. Large ones with
// AVX2 and FMA where the machine has them: there the last bits may differ from machine to machine.
// V: double, or float where a factor of 2 in time is worth more than digits.
template <class V>
void dense_product(const V* x, const V* y, V* out, std::ptrdiff_t rows, std::ptrdiff_t inner, std::ptrdiff_t cols);
extern template void dense_product(const double*, const double*, double*, std::ptrdiff_t, std::ptrdiff_t,
                                   std::ptrdiff_t);
extern template void dense_product(const float*, const float*, float*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t);

}  // namespace backgauge
