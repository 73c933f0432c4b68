// SPDX-License-Identifier: Apache-2.0
// The definition of a kernel, for nvcc as well as a C++ compiler. A kernel is a struct that can be copied byte by
// byte:
//
//   struct Example {
//     static constexpr int kThreads = 128;            // of a block
//     static constexpr int kPhases = 2;               // a barrier of the block separates them
//     struct Shared { float sums[128]; };             // of a block; uninitialized at first
//     struct Local { float sum; };                    // of a thread, kept from phase to phase; uninitialized
//     const float* from;                              // parameters: pointers to device memory, numbers
//     template <int kPhase>
//     BACKGAUGE_BOTH void run(const Thread& thread, Shared& shared, Local& local) const;
//   };
//
// A thread may only read parts of `shared` or of global memory that were written by itself, by its block in an earlier
// phase, or by an earlier launch. Blocks run in any order.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "reference/contract/narrow.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define BACKGAUGE_BOTH __host__ __device__ __forceinline__
#else
#define BACKGAUGE_BOTH inline
#endif
#ifdef __CUDA_ARCH__
#define BACKGAUGE_UNROLL _Pragma("unroll")
#else
#define BACKGAUGE_UNROLL
#endif

namespace backgauge::cuda {

struct Thread {
  int index;           // in 0 .. kThreads - 1
  std::int64_t block;  // in 0 .. blocks - 1
};

// For kernels without Shared or Local data.
struct Nothing {};

// The type of computations with values of a storage type.
template <class Storage>
using Compute = std::conditional_t<sizeof(Storage) == 2, float, Storage>;

// Bytes of the widest access, and elements in one.
inline constexpr int kVectorBytes = 16;
template <class Storage>
inline constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(Storage));

BACKGAUGE_BOTH float wide(Half value) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(value.bits));
#else
  return static_cast<float>(value);
#endif
}
BACKGAUGE_BOTH float wide(Bfloat16 value) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
#else
  return static_cast<float>(value);
#endif
}
BACKGAUGE_BOTH float wide(float value) { return value; }
BACKGAUGE_BOTH double wide(double value) { return value; }

// Rounds once, to nearest even.
template <class Storage>
BACKGAUGE_BOTH Storage narrow(Compute<Storage> value) {
  if constexpr (std::is_same_v<Storage, Half>) {
    Half half;
#ifdef __CUDA_ARCH__
    half.bits = __half_as_ushort(__float2half_rn(value));
#else
    half.bits = backgauge_float_to_half(value);
#endif
    return half;
  } else if constexpr (std::is_same_v<Storage, Bfloat16>) {
    Bfloat16 bfloat16;
#ifdef __CUDA_ARCH__
    bfloat16.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
    bfloat16.bits = backgauge_float_to_bfloat16(value);
#endif
    return bfloat16;
  } else {
    return value;
  }
}

// a * b + c, rounded once.
BACKGAUGE_BOTH float fused_multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

// Accesses `count` adjacent elements as 16 bytes at once, or one element. `from` and `to` are aligned accordingly.
template <int count, class Storage>
BACKGAUGE_BOTH void load(const Storage* from, Compute<Storage> (&to)[count]) {
  static_assert(count == 1 || count == kVector<Storage>);
  if constexpr (count == 1) {
    to[0] = wide(*from);
  } else {
    alignas(kVectorBytes) Storage stored[count];
#ifdef __CUDA_ARCH__
    *reinterpret_cast<uint4*>(stored) = *reinterpret_cast<const uint4*>(from);
#else
    std::memcpy(static_cast<void*>(stored), __builtin_assume_aligned(from, kVectorBytes), kVectorBytes);
#endif
    BACKGAUGE_UNROLL
    for (int k = 0; k < count; ++k) to[k] = wide(stored[k]);
  }
}

template <int count, class Storage>
BACKGAUGE_BOTH void store(const Compute<Storage> (&from)[count], Storage* to) {
  static_assert(count == 1 || count == kVector<Storage>);
  if constexpr (count == 1) {
    *to = narrow<Storage>(from[0]);
  } else {
    alignas(kVectorBytes) Storage stored[count];
    BACKGAUGE_UNROLL
    for (int k = 0; k < count; ++k) stored[k] = narrow<Storage>(from[k]);
#ifdef __CUDA_ARCH__
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(stored);
#else
    std::memcpy(__builtin_assume_aligned(to, kVectorBytes), static_cast<const void*>(stored), kVectorBytes);
#endif
  }
}

// `count` adjacent floats or doubles, not necessarily in one access: carried values next to vectors of half.
template <int count, class Real>
BACKGAUGE_BOTH void load_each(const Real* from, Real (&to)[count]) {
  if constexpr (count * sizeof(Real) % kVectorBytes == 0) {
    constexpr int kEach = kVector<Real>;
    BACKGAUGE_UNROLL
    for (int k = 0; k < count; k += kEach) {
      Real part[kEach];
      load(from + k, part);
      BACKGAUGE_UNROLL
      for (int n = 0; n < kEach; ++n) to[k + n] = part[n];
    }
  } else {
    BACKGAUGE_UNROLL
    for (int k = 0; k < count; ++k) to[k] = from[k];
  }
}

template <int count, class Real>
BACKGAUGE_BOTH void store_each(const Real (&from)[count], Real* to) {
  if constexpr (count * sizeof(Real) % kVectorBytes == 0) {
    constexpr int kEach = kVector<Real>;
    BACKGAUGE_UNROLL
    for (int k = 0; k < count; k += kEach) {
      Real part[kEach];
      BACKGAUGE_UNROLL
      for (int n = 0; n < kEach; ++n) part[n] = from[k + n];
      store(part, to + k);
    }
  } else {
    BACKGAUGE_UNROLL
    for (int k = 0; k < count; ++k) to[k] = from[k];
  }
}

// Whether all of these can be accessed as vectors, including rows of `columns` elements of the given size.
template <class... Pointer>
bool is_aligned(std::int64_t columns, std::size_t element_bytes, const Pointer*... pointers) {
  const bool rows = static_cast<std::uint64_t>(columns) * element_bytes % kVectorBytes == 0;
  return rows && ((reinterpret_cast<std::uintptr_t>(pointers) % kVectorBytes == 0) && ...);
}

// body: called with the width of accesses, a constant: that of vectors of Storage, or 1.
template <class Storage, class Body>
void with_width(bool wide, const Body& body) {
  wide ? body(std::integral_constant<int, kVector<Storage>>()) : body(std::integral_constant<int, 1>());
}

inline std::int64_t blocks_for(std::int64_t count, std::int64_t each) { return (count + each - 1) / each; }

}  // namespace backgauge::cuda
