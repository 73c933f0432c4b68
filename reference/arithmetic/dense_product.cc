// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/dense_product.h"

#include <algorithm>

namespace backgauge {

using DenseProduct = decltype(dense_product);
DenseProduct dense_product_baseline;
#ifdef BACKGAUGE_X86_VECTORS
DenseProduct dense_product_avx2;
#endif

namespace {

DenseProduct* choose() {
#ifdef BACKGAUGE_X86_VECTORS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return dense_product_avx2;
#endif
  return dense_product_baseline;
}

// Smaller ones take ways through Eigen that depend on how their memory is aligned for vectors as long as AVX2's: the
// same product would not always have the same bits. They are also not where the time goes.
bool is_large(std::ptrdiff_t rows, std::ptrdiff_t inner, std::ptrdiff_t cols) {
  constexpr std::ptrdiff_t kLeastSide = 8, kLeastTerms = 1 << 15;
  return rows >= kLeastSide && cols >= kLeastSide && rows * inner * cols >= kLeastTerms;
}

}  // namespace

void dense_product(const double* x, const double* y, double* out, std::ptrdiff_t rows, std::ptrdiff_t inner,
                   std::ptrdiff_t cols) {
  if (inner == 0) {
    std::fill_n(out, rows * cols, 0.0);
    return;
  }
  static DenseProduct* const chosen = choose();
  (is_large(rows, inner, cols) ? chosen : dense_product_baseline)(x, y, out, rows, inner, cols);
}

}  // namespace backgauge
