// SPDX-License-Identifier: Apache-2.0
// The instruction set of the vector code and of large products in this process: the best of the machine, or the one
// that the environment variable BACKGAUGE_CPU names (scalar, neon, avx2, avx512, amx, amx-always,
// amx-emulated). Decided once.
#pragma once

#include <string>
#include <string_view>

#include "impl/cpu/machine/targets.h"

namespace backgauge::cpu {

enum class Path { kScalar, kAvx2, kAvx512, kNeon };
// The products of float matrices. kAmx: where amx::pays() expects it to be faster; kAmxAlways: from two rows on.
enum class Products { kVectors, kAmx, kAmxAlways, kAmxEmulated };

inline bool on_amx(Products products) { return products == Products::kAmx || products == Products::kAmxAlways; }

struct PathChoice {
  Path path;                               // the best of the machine, or the requested one
  std::string refusal{};                   // why the request cannot be met, or ""
  Products products = Products::kVectors;  // kAmxAlways and the emulation only if requested
};

// wish: the word of a path or of products, which are combined with the best path; nullptr or "" for the best.
PathChoice choose_path(const char* wish);

// What choose_path() says of the environment.
Path path();
Products products();
std::string_view path_word();
std::string_view path_refusal();

inline constexpr Path kPaths[] = {Path::kAvx512, Path::kAvx2, Path::kNeon, Path::kScalar};  // the best first
std::string_view word(Path path);
// Why this process cannot take a path, or "".
std::string_view missing(Path path);
// What is missing for such products, or "". May ask the system for tiles.
std::string_view missing(Products products);

}  // namespace backgauge::cpu

// In a file that was compiled for each target: calls `call` in the namespace of a path.
#ifdef BACKGAUGE_WITHOUT_AVX512
#define BACKGAUGE_ON_AVX512(call)
#else
#define BACKGAUGE_ON_AVX512(call)       \
  case ::backgauge::cpu::Path::kAvx512: \
    return N_AVX3::call;
#endif
#if HWY_ARCH_X86
#define BACKGAUGE_ON(path, call)                             \
  switch (path) {                                            \
    BACKGAUGE_ON_AVX512(call)                                \
    case ::backgauge::cpu::Path::kAvx2: return N_AVX2::call; \
    default: return N_SCALAR::call;                          \
  }
#elif HWY_ARCH_ARM_A64
#define BACKGAUGE_ON(path, call)                             \
  switch (path) {                                            \
    case ::backgauge::cpu::Path::kNeon: return N_NEON::call; \
    default: return N_SCALAR::call;                          \
  }
#else
#define BACKGAUGE_ON(path, call) return HWY_STATIC_DISPATCH(call)
#endif
#define BACKGAUGE_ON_PATH(call) BACKGAUGE_ON(::backgauge::cpu::path(), call)
