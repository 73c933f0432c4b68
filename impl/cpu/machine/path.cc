// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/machine/path.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "impl/cpu/machine/amx_missing.h"

namespace backgauge::cpu {
namespace {

#if HWY_ARCH_X86
// __builtin_cpu_supports does not know f16c.
bool has_f16c() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

// The features that the vector code is compiled for: HWY_TARGET_STR of each target.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") &&
         has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

#ifdef BACKGAUGE_WITHOUT_AVX512
constexpr bool kBuiltWithAvx512 = false;
#else
constexpr bool kBuiltWithAvx512 = true;
#endif
#endif

struct ProductsWord {
  Products products;
  std::string_view word;
};
constexpr ProductsWord kProductsWords[] = {
    {Products::kAmx, "amx"}, {Products::kAmxAlways, "amx-always"}, {Products::kAmxEmulated, "amx-emulated"}};

const PathChoice& choice() {
  static const PathChoice chosen = choose_path(std::getenv("BACKGAUGE_CPU"));
  return chosen;
}

}  // namespace

PathChoice choose_path(const char* wish) {
  PathChoice choice{*std::ranges::find_if(kPaths, [](Path path) { return missing(path).empty(); })};
  if (wish == nullptr || *wish == '\0') {
    if (missing(Products::kAmx).empty()) choice.products = Products::kAmx;
    return choice;
  }
  const auto refused = [&](const std::string& why) {
    choice.refusal = "cpu: BACKGAUGE_CPU=" + std::string(wish) + ": " + why;
    return choice;
  };
  std::string known;
  for (const auto& [wished, word] : kProductsWords) {
    if (word == wish) {
      const std::string_view lacks = missing(wished);
      if (!lacks.empty()) return refused("cannot be run here: " + std::string(lacks));
      choice.products = wished;
      return choice;
    }
    known += " " + std::string(word);
  }
  for (const Path path : kPaths) {
    if (word(path) == wish) {
      const std::string_view lacks = missing(path);
      if (!lacks.empty()) return refused("cannot be run here: " + std::string(lacks));
      choice.path = path;
      return choice;
    }
    known += " " + std::string(word(path));
  }
  return refused("expected one of" + known);
}

std::string_view missing([[maybe_unused]] Products products) {
#if HWY_ARCH_X86
  return on_amx(products) ? amx_missing() : "";
#else
  return products == Products::kVectors ? "" : "not an x86-64 processor";  // its panels are narrower than tiles
#endif
}

std::string_view missing(Path path) {
  switch (path) {
#if HWY_ARCH_X86
    case Path::kAvx512:
      if (!kBuiltWithAvx512) return "builds for sanitizers leave it out";
      return has_avx512() ? "" : "this processor has no AVX-512 with F, VL, DQ and BW";
    case Path::kAvx2: return has_avx2() ? "" : "this processor has no AVX2 with FMA, BMI, BMI2, AES, PCLMUL and F16C";
    case Path::kNeon: return "not an aarch64 processor";
    case Path::kScalar: return "";
#elif HWY_ARCH_ARM_A64
    case Path::kNeon:  // every processor of this architecture that runs Linux has it
    case Path::kScalar: return "";
    default: return "not an x86-64 processor";
#else
    case Path::kScalar: return HWY_STATIC_TARGET == HWY_SCALAR ? "" : "this build has other vectors";
    default: return "neither an x86-64 nor an aarch64 processor";
#endif
  }
  return "unknown path";
}

std::string_view word(Path path) {
  switch (path) {
    case Path::kAvx512: return "avx512";
    case Path::kAvx2: return "avx2";
    case Path::kNeon: return "neon";
    default: return "scalar";
  }
}

Path path() { return choice().path; }
Products products() { return choice().products; }
std::string_view path_word() {
  const auto* const found = std::ranges::find(kProductsWords, products(), &ProductsWord::products);
  return found == std::end(kProductsWords) ? word(path()) : found->word;
}
std::string_view path_refusal() { return choice().refusal; }

}  // namespace backgauge::cpu
