// SPDX-License-Identifier: Apache-2.0
// Small products, and all products on machines without fused multiply-add in vectors.
#include <Eigen/Core>

#include "reference/arithmetic/dense_product.h"

namespace backgauge {

template <class V>
void dense_product_baseline(const Product<V>& p) {
  using Rows = Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<const Rows> x(p.x, p.x_transposed ? p.inner : p.rows, p.x_transposed ? p.rows : p.inner);
  Eigen::Map<const Rows> y(p.y, p.inner, p.cols);
  Eigen::Map<Rows> out(p.out, p.rows, p.cols);
  // Eigen adds the terms of small products with x as a transposed view in another order: the copy keeps the bits of x
  // y.
  const Rows copy = p.x_transposed ? Rows(x.transpose()) : Rows();
  const Eigen::Map<const Rows> left(p.x_transposed ? copy.data() : p.x, p.rows, p.inner);
  if (p.add) {
    out.noalias() += left * y;
  } else {
    out.noalias() = left * y;
  }
}

template void dense_product_baseline(const Product<double>&);
template void dense_product_baseline(const Product<float>&);

}  // namespace backgauge
