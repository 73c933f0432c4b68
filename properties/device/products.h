// SPDX-License-Identifier: Apache-2.0
// Large products of matrices by cuBLASLt, whose library is loaded on first use, as CUDA's runtime is: nothing is
// linked. BACKGAUGE_CUBLASLT names it; else libcublasLt.so.13 and libcublasLt.so.12 are looked for where the system
// looks, and in /usr/local/cuda. Where BACKGAUGE_CUDART names a runtime, nothing is looked for: it may not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "properties/device/device.h"

namespace backgauge::device {

// The arithmetic of a product: operands and results of 2, 4 or 8 bytes, sums in float or double.
enum class Arithmetic { kHalf, kBfloat16, kTf32, kFloat32, kFloat64 };

// Why there are no products, in one line; "" if there are.
const std::string& products_absence();

// "13.1.0"; "" if there are no products.
std::string products_version();

// c = a b of square column-major matrices with `side` rows, in device memory that it owns. Everything throws Error,
// where products_absence() is not "" too, or std::bad_alloc.
class SquareProduct {
 public:
  SquareProduct(Arithmetic arithmetic, std::int64_t side, const Stream& stream);
  ~SquareProduct();
  SquareProduct(const SquareProduct&) = delete;
  SquareProduct& operator=(const SquareProduct&) = delete;

  void run() const;  // in order on the stream
  double flops() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace backgauge::device
