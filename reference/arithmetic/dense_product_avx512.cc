// SPDX-License-Identifier: Apache-2.0
#define BACKGAUGE_DENSE_PRODUCT dense_product_avx512
#define BACKGAUGE_VECTOR_BYTES 64
#define BACKGAUGE_VECTOR_REGISTERS 32
#include "reference/arithmetic/dense_product_kernel.inc"
