// SPDX-License-Identifier: Apache-2.0
// Products on the processor, with the same results as cuBLASLt up to rounding.
#pragma once

#include "impl/cuda/device/product.h"

namespace backgauge::cuda {

// Throws CallError if rows overlap or types do not match.
void check(const Product& product);

// Throws CallError if a matrix that is declared aligned is not.
void host_multiply(const Product& product, const Matrices& matrices);

}  // namespace backgauge::cuda
