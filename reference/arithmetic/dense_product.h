// SPDX-License-Identifier: Apache-2.0
// Products of matrices, in which the oracle spends most of its time on large cases.
#pragma once

#include <cstddef>

namespace backgauge {

// What is to be multiplied: all matrices are contiguous and row-major.
template <class V>
struct Product {
  const V* x;  // [rows, inner]; [inner, rows] if x_transposed
  const V* y;  // [inner, cols]
  V* out;      // [rows, cols]
  std::ptrdiff_t rows, inner, cols;
  bool x_transposed = false;  // x^T y
  bool add = false;           // to what `out` holds, instead of replacing it
};

// out = x y, or out += x y; an empty sum is 0. Large ones with fused multiply-add in AVX2, AVX-512 or NEON where the
// machine has one of them, with the same bits in all; without them the last bits may differ.
// V: double, or float where half the time is worth more than digits.
template <class V>
void dense_product(const Product<V>& product);
extern template void dense_product(const Product<double>&);
extern template void dense_product(const Product<float>&);

// Operations (a product and a sum are two) of all products that this process has made so far.
struct ProductWork {
  double double_flops, float_flops;
};
ProductWork product_work();

// While one lives, the thread that made it divides its largest products among all cores. The bits are the same. For
// times when nothing else runs.
class ProductsOnAllCores {
 public:
  ProductsOnAllCores();
  ~ProductsOnAllCores();
  ProductsOnAllCores(const ProductsOnAllCores&) = delete;
  ProductsOnAllCores& operator=(const ProductsOnAllCores&) = delete;

 private:
  const bool before_;
};

}  // namespace backgauge
