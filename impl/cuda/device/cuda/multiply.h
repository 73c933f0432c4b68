// SPDX-License-Identifier: Apache-2.0
// Products by cuBLASLt. Its heuristic chooses the algorithm for a product once, depending only on the product.
#pragma once

#include <string>

#include "impl/cuda/device/cuda/stream.h"
#include "impl/cuda/device/product.h"

namespace backgauge::cuda {

// Returns false, and does nothing, if the library has no algorithm. Always the same for the same product.
bool cublaslt_multiply(const Stream& stream, const Product& product, const Matrices& matrices);
bool cublaslt_multiply(const Stream& stream, const Product& product, const IndirectMatrices& matrices);
bool cublaslt_can_be_indirect(const Product& product);

// Creates the library's handle on the current device, which allocates memory.
void prepare_cublaslt();

std::string cublaslt_version();

}  // namespace backgauge::cuda
