// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/dense_product.h"

#include <algorithm>

namespace backgauge {

template <class V>
using DenseProduct = void(const V* x, const V* y, V* out, std::ptrdiff_t rows, std::ptrdiff_t inner,
                          std::ptrdiff_t cols);
template <class V>
DenseProduct<V> dense_product_baseline;
#ifdef BACKGAUGE_X86_VECTORS
template <class V>
DenseProduct<V> dense_product_avx2;
#endif

namespace {

template <class V>
DenseProduct<V>* choose() {
#ifdef BACKGAUGE_X86_VECTORS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return dense_product_avx2<V>;
#endif
  return dense_product_baseline<V>;
}

// Smaller ones take ways through Eigen that depend on how their memory is aligned for vectors as long as AVX2's: the
// same product would not always have the same bits. They are also not where the time goes.
bool is_large(std::ptrdiff_t rows, std::ptrdiff_t inner, std::ptrdiff_t cols) {
  constexpr std::ptrdiff_t kLeastSide = 8, kLeastTerms = 1 << 15;
  return rows >= kLeastSide && cols >= kLeastSide && rows * inner * cols >= kLeastTerms;
}

}  // namespace

template <class V>
void dense_product(const V* x, const V* y, V* out, std::ptrdiff_t rows, std::ptrdiff_t inner, std::ptrdiff_t cols) {
  if (inner == 0) {
    std::fill_n(out, rows * cols, V{0});
    return;
  }
  static DenseProduct<V>* const chosen = choose<V>();
  (is_large(rows, inner, cols) ? chosen : dense_product_baseline<V>)(x, y, out, rows, inner, cols);
}

template void dense_product(const double*, const double*, double*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t);
template void dense_product(const float*, const float*, float*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t);

}  // namespace backgauge
