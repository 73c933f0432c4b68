// SPDX-License-Identifier: Apache-2.0
#include "perf/machine/probe_kernels.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace backgauge {
namespace {

// Keeps a value in a register and hides it from the optimizer.
#if defined(__x86_64__)
#define BACKGAUGE_KEEP(value) asm volatile("" : "+x"(value))
#define BACKGAUGE_KEEP_WIDE(value) asm volatile("" : "+v"(value))
#else
#define BACKGAUGE_KEEP(value) asm volatile("" : "+w"(value))
#endif

// Twelve independent sums: a latency of five cycles on two units needs ten, and with the factors they fit into 16
// registers. Loops over arrays of vectors would use the stack.
#define BACKGAUGE_TWELVE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
constexpr double kSums = 12;

// Different from the start: equal sums would be computed only once.
#define BACKGAUGE_DECLARE(k) \
  auto s##k = start;         \
  BACKGAUGE_KEEP(s##k);
#define BACKGAUGE_DECLARE_WIDE(k) \
  auto s##k = start;              \
  BACKGAUGE_KEEP_WIDE(s##k);
#define BACKGAUGE_STEP(k) s##k = BACKGAUGE_FMA(s##k, factor, term);
#define BACKGAUGE_END(k) BACKGAUGE_KEEP(s##k);
#define BACKGAUGE_END_WIDE(k) BACKGAUGE_KEEP_WIDE(s##k);

template <class Scalar>
double flops(std::int64_t steps, std::size_t vector_bytes) {
  const std::size_t scalars = vector_bytes / sizeof(Scalar);
  return 2 * kSums * static_cast<double>(scalars) * static_cast<double>(steps);
}

// For every CPU of the architecture: SSE2, NEON. The compiler's vector types; a product and a sum are two instructions
// if there is no fused one.
typedef float Floats __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(16)));
#define BACKGAUGE_FMA(s, a, b) s* a + b
template <class Scalar, class Vector>
double portable_fma(std::int64_t steps) {
  Vector start = {}, factor = {}, term = {};
  BACKGAUGE_KEEP(factor);
  BACKGAUGE_KEEP(term);
  BACKGAUGE_TWELVE(BACKGAUGE_DECLARE)
  for (std::int64_t step = 0; step < steps; ++step) {
    BACKGAUGE_TWELVE(BACKGAUGE_STEP)
  }
  BACKGAUGE_TWELVE(BACKGAUGE_END)
  return flops<Scalar>(steps, sizeof(Vector));
}
#undef BACKGAUGE_FMA

void portable_read(const std::byte* from, std::size_t bytes) {
  Floats sum = {};
  for (std::size_t k = 0; k < bytes; k += sizeof sum) {
    Floats next;
    std::memcpy(&next, from + k, sizeof next);
    BACKGAUGE_KEEP(next);
  }
}

#if defined(__x86_64__)
#define BACKGAUGE_FMA_LOOP(name, isa, Scalar, Vector, set1, WIDTH)                   \
  __attribute__((target(isa))) double name(std::int64_t steps) {                     \
    Vector start = set1(0), factor = set1(static_cast<Scalar>(0.5)), term = set1(1); \
    BACKGAUGE_TWELVE(BACKGAUGE_DECLARE##WIDTH)                                       \
    for (std::int64_t step = 0; step < steps; ++step) {                              \
      BACKGAUGE_TWELVE(BACKGAUGE_STEP)                                               \
    }                                                                                \
    BACKGAUGE_TWELVE(BACKGAUGE_END##WIDTH)                                           \
    return flops<Scalar>(steps, sizeof(Vector));                                     \
  }
#define BACKGAUGE_FMA(s, a, b) _mm256_fmadd_ps(s, a, b)
BACKGAUGE_FMA_LOOP(avx2_fma_f32, "avx2,fma", float, __m256, _mm256_set1_ps, )
#undef BACKGAUGE_FMA
#define BACKGAUGE_FMA(s, a, b) _mm256_fmadd_pd(s, a, b)
BACKGAUGE_FMA_LOOP(avx2_fma_f64, "avx2,fma", double, __m256d, _mm256_set1_pd, )
#undef BACKGAUGE_FMA
#define BACKGAUGE_FMA(s, a, b) _mm512_fmadd_ps(s, a, b)
BACKGAUGE_FMA_LOOP(avx512_fma_f32, "avx512f", float, __m512, _mm512_set1_ps, _WIDE)
#undef BACKGAUGE_FMA
#define BACKGAUGE_FMA(s, a, b) _mm512_fmadd_pd(s, a, b)
BACKGAUGE_FMA_LOOP(avx512_fma_f64, "avx512f", double, __m512d, _mm512_set1_pd, _WIDE)
#undef BACKGAUGE_FMA

const float* floats(const std::byte* bytes) { return reinterpret_cast<const float*>(bytes); }
float* floats(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }
constexpr std::size_t kAvx = 8, kAvx512 = 16;  // floats of a vector

__attribute__((target("avx2"))) void avx2_read(const std::byte* from, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes / sizeof(float); k += 4 * kAvx) {
    __m256 a = _mm256_load_ps(floats(from) + k), b = _mm256_load_ps(floats(from) + k + kAvx);
    __m256 c = _mm256_load_ps(floats(from) + k + 2 * kAvx), d = _mm256_load_ps(floats(from) + k + 3 * kAvx);
    BACKGAUGE_KEEP(a);
    BACKGAUGE_KEEP(b);
    BACKGAUGE_KEEP(c);
    BACKGAUGE_KEEP(d);
  }
}

__attribute__((target("avx512f"))) void avx512_read(const std::byte* from, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes / sizeof(float); k += 4 * kAvx512) {
    __m512 a = _mm512_load_ps(floats(from) + k), b = _mm512_load_ps(floats(from) + k + kAvx512);
    __m512 c = _mm512_load_ps(floats(from) + k + 2 * kAvx512), d = _mm512_load_ps(floats(from) + k + 3 * kAvx512);
    BACKGAUGE_KEEP_WIDE(a);
    BACKGAUGE_KEEP_WIDE(b);
    BACKGAUGE_KEEP_WIDE(c);
    BACKGAUGE_KEEP_WIDE(d);
  }
}

__attribute__((target("avx2"))) void avx2_copy(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes / sizeof(float); k += 2 * kAvx) {
    const __m256 a = _mm256_load_ps(floats(from) + k), b = _mm256_load_ps(floats(from) + k + kAvx);
    _mm256_store_ps(floats(to) + k, a);
    _mm256_store_ps(floats(to) + k + kAvx, b);
  }
}

__attribute__((target("avx512f"))) void avx512_copy(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes / sizeof(float); k += 2 * kAvx512) {
    const __m512 a = _mm512_load_ps(floats(from) + k), b = _mm512_load_ps(floats(from) + k + kAvx512);
    _mm512_store_ps(floats(to) + k, a);
    _mm512_store_ps(floats(to) + k + kAvx512, b);
  }
}

__attribute__((target("avx2"))) void avx2_stream(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes / sizeof(float); k += 2 * kAvx) {
    _mm256_stream_ps(floats(to) + k, _mm256_load_ps(floats(from) + k));
    _mm256_stream_ps(floats(to) + k + kAvx, _mm256_load_ps(floats(from) + k + kAvx));
  }
  _mm_sfence();
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() { return __builtin_cpu_supports("avx512f"); }
#endif

}  // namespace

double fma_loop_f32(std::int64_t steps) {
#if defined(__x86_64__)
  if (has_avx512()) return avx512_fma_f32(steps);
  if (has_avx2()) return avx2_fma_f32(steps);
#endif
  return portable_fma<float, Floats>(steps);
}

double fma_loop_f64(std::int64_t steps) {
#if defined(__x86_64__)
  if (has_avx512()) return avx512_fma_f64(steps);
  if (has_avx2()) return avx2_fma_f64(steps);
#endif
  return portable_fma<double, Doubles>(steps);
}

void read_loop(const std::byte* from, std::size_t bytes) {
#if defined(__x86_64__)
  if (has_avx512()) return avx512_read(from, bytes);
  if (has_avx2()) return avx2_read(from, bytes);
#endif
  portable_read(from, bytes);
}

void copy_loop(const std::byte* from, std::byte* to, std::size_t bytes) {
#if defined(__x86_64__)
  if (has_avx512()) return avx512_copy(from, to, bytes);
  if (has_avx2()) return avx2_copy(from, to, bytes);
#endif
  std::memcpy(to, from, bytes);
}

void stream_loop(const std::byte* from, std::byte* to, std::size_t bytes) {
#if defined(__x86_64__)
  if (has_avx2()) return avx2_stream(from, to, bytes);
#endif
  copy_loop(from, to, bytes);
}

}  // namespace backgauge
