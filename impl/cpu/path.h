// SPDX-License-Identifier: Apache-2.0
// Which instruction set the vector code of this process runs on: the best of the machine, or the one that the
// environment variable BACKGAUGE_CPU names (scalar, avx2, avx512). Decided once.
#pragma once

#include <hwy/detect_targets.h>

#include <string_view>

namespace backgauge::cpu {

enum class Path { kScalar, kAvx2, kAvx512, kNeon };

// On any machine the best one it has; where the environment asks for another, that one if the machine has it.
Path path();

std::string_view word(Path path);
bool machine_has(Path path);

// Why the environment's wish cannot be met, or "".
std::string_view path_refusal();

}  // namespace backgauge::cpu

// In a file that was compiled for each target: calls `call` in the namespace of the path.
#if HWY_ARCH_X86
#define BACKGAUGE_ON_PATH(call)                                \
  switch (::backgauge::cpu::path()) {                          \
    case ::backgauge::cpu::Path::kAvx512: return N_AVX3::call; \
    case ::backgauge::cpu::Path::kAvx2: return N_AVX2::call;   \
    default: return N_SCALAR::call;                            \
  }
#else
#define BACKGAUGE_ON_PATH(call) return HWY_STATIC_DISPATCH(call)
#endif
