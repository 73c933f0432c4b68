// SPDX-License-Identifier: Apache-2.0
// The innermost products, once per instruction set: a tile of C, at most kTileRows rows by `columns` columns, over the
// whole depth given. Every element is one chain of multiply-adds in the order of the depth, whichever tile it is in.
#pragma once

#include <cstdint>

namespace backgauge::cpu {

inline constexpr int kTileRows = 6;  // with 2 vectors a row: 12 sums, 2 operands and a broadcast in 16 registers

template <class T>
struct GemmKernel {
  int columns;  // of a tile and of a packed panel

  // c[rows, live] (row stride c_row) = a b, or += if accumulate. b: a panel [depth, columns]; live <= columns.
  //   packed:  a is [depth, rows]
  //   strided: a is [rows, depth] of row stride a_row
  void (*packed)(int rows, std::int64_t depth, const T* a, const T* b, T* c, std::int64_t c_row, std::int64_t live,
                 bool accumulate);
  void (*strided)(int rows, std::int64_t depth, const T* a, std::int64_t a_row, const T* b, T* c, std::int64_t c_row,
                  std::int64_t live, bool accumulate);
};

// The kernels for the machine this runs on. T is float or double.
template <class T>
const GemmKernel<T>& gemm_kernel();

struct GemmKernels {
  GemmKernel<float> f32;
  GemmKernel<double> f64;
};
const GemmKernels& gemm_kernels_baseline();
const GemmKernels& gemm_kernels_avx2();    // x86-64-v3
const GemmKernels& gemm_kernels_avx512();  // x86-64-v4

}  // namespace backgauge::cpu
