// SPDX-License-Identifier: Apache-2.0
// The kernels for x86-64-v3: AVX2 and FMA.
#define BACKGAUGE_GEMM_KERNELS gemm_kernels_avx2
#include "impl/cpu/gemm_kernel.inc"
