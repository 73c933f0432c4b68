// SPDX-License-Identifier: Apache-2.0
// The kernels for x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
#define BACKGAUGE_GEMM_KERNELS gemm_kernels_avx512
#include "impl/cpu/gemm_kernel.inc"
