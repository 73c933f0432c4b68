// SPDX-License-Identifier: Apache-2.0
// Products of matrices of doubles, where the oracle spends its time on large cases.
#pragma once

#include <cstddef>

namespace backgauge {

// out[rows, cols] = x[rows, inner] y[inner, cols], all contiguous and row-major; 0 where inner is 0. Large ones with
// AVX2 and FMA where the machine has them: there the last bits may differ from machine to machine.
void dense_product(const double* x, const double* y, double* out, std::ptrdiff_t rows, std::ptrdiff_t inner,
                   std::ptrdiff_t cols);

}  // namespace backgauge
