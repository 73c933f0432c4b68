// SPDX-License-Identifier: Apache-2.0
// Products by cuBLASLt. The algorithm for a product is chosen once, by its heuristic, and depends on nothing else.
#pragma once

#include <string>

#include "impl/cuda/device/cuda/stream.h"
#include "impl/cuda/device/product.h"

namespace backgauge::cuda {

// false, and nothing done, where the library has no algorithm: the same answer for the same product, always.
bool cublaslt_multiply(const Stream& stream, const Product& product, const Matrices& matrices);
bool cublaslt_multiply(const Stream& stream, const Product& product, const IndirectMatrices& matrices);
bool cublaslt_can_be_indirect(const Product& product);

// Makes the library's handle on the current device, which takes memory.
void prepare_cublaslt();

std::string cublaslt_version();

}  // namespace backgauge::cuda
