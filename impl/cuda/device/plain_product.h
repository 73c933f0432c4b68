// SPDX-License-Identifier: Apache-2.0
// A product with one thread per element of the result, for products that the library has no algorithm for. Slow, and
// correct for every type, size and alignment.
#pragma once

#include "impl/cuda/device/kernel.h"
#include "impl/cuda/device/product.h"

namespace backgauge::cuda {

template <class Storage, class Result>
struct PlainProductKernel {
  using Real = Compute<Storage>;
  static constexpr int kThreads = 256, kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  Product product;
  Matrices matrices;

  static std::int64_t blocks(const Product& p) { return blocks_for(p.rows * p.columns, kThreads); }

  template <int kPhase>
  BACKGAUGE_BOTH void run(const Thread& thread, Shared&, Local&) const {
    const Product& p = product;
    const std::int64_t element = thread.block * kThreads + thread.index;
    if (element >= p.rows * p.columns) return;
    const std::int64_t row = element / p.columns, column = element % p.columns;
    const std::int64_t a_step = p.a_transposed ? p.a_stride : 1, b_step = p.b_transposed ? 1 : p.b_stride;
    const Storage* a = static_cast<const Storage*>(matrices.a) + (p.a_transposed ? row : row * p.a_stride);
    const Storage* b = static_cast<const Storage*>(matrices.b) + (p.b_transposed ? column * p.b_stride : column);
    Result* const to = static_cast<Result*>(matrices.result) + row * p.result_stride + column;
    Real sum = p.added ? static_cast<Real>(wide(*to)) : Real{0};
    for (std::int64_t k = 0; k < p.depth; ++k) sum += wide(a[k * a_step]) * wide(b[k * b_step]);
    *to = narrow<Result>(sum);
  }
};

// Calls launch(blocks, kernel) with the kernel for the types of the product.
template <class Launch>
void with_plain_product(const Product& p, const Matrices& matrices, const Launch& launch) {
  const auto with = [&](auto kernel) { launch(kernel.blocks(p), kernel); };
  switch (p.operands) {
    case Type::kHalf:
      p.result == Type::kHalf ? with(PlainProductKernel<Half, Half>{p, matrices})
                              : with(PlainProductKernel<Half, float>{p, matrices});
      break;
    case Type::kFloat: with(PlainProductKernel<float, float>{p, matrices}); break;
    case Type::kDouble: with(PlainProductKernel<double, double>{p, matrices}); break;
  }
}

}  // namespace backgauge::cuda
