// SPDX-License-Identifier: Apache-2.0
#define BACKGAUGE_DENSE_PRODUCT dense_product_avx2
#define BACKGAUGE_VECTOR_BYTES 32
#define BACKGAUGE_VECTOR_REGISTERS 16
#include "reference/arithmetic/dense_product_kernel.inc"
