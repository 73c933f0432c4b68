// SPDX-License-Identifier: Apache-2.0
// The kernels for what every machine of the architecture has.
#define BACKGAUGE_GEMM_KERNELS gemm_kernels_baseline
#include "impl/cpu/gemm_kernel.inc"
