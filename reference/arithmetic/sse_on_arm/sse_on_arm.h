// SPDX-License-Identifier: Apache-2.0
// Included before everything else in each source of the reference on ARM: Eigen then computes with SSE2, as on x86-64,
// which SIMDe translates into NEON one instruction at a time. Eigen's own code for NEON adds the terms of a sum in
// another order, and fuses products with sums, so that the last bits of what a case is allowed would depend on the
// processor.
#pragma once

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/sse2.h>

// SIMDe's macros for these select between two types, to which Eigen's own types for integers convert alike.
inline const __m128i& as_sse_integers(const __m128i& value) { return value; }
#undef _mm_slli_epi16
#undef _mm_slli_epi32
#undef _mm_slli_epi64
#undef _mm_srai_epi32
#undef _mm_srli_epi16
#undef _mm_srli_epi32
#undef _mm_srli_epi64
#define _mm_slli_epi16(value, bits) simde_mm_slli_epi16(as_sse_integers(value), bits)
#define _mm_slli_epi32(value, bits) simde_mm_slli_epi32(as_sse_integers(value), bits)
#define _mm_slli_epi64(value, bits) simde_mm_slli_epi64(as_sse_integers(value), bits)
#define _mm_srai_epi32(value, bits) simde_mm_srai_epi32(as_sse_integers(value), bits)
#define _mm_srli_epi16(value, bits) simde_mm_srli_epi16(as_sse_integers(value), bits)
#define _mm_srli_epi32(value, bits) simde_mm_srli_epi32(as_sse_integers(value), bits)
#define _mm_srli_epi64(value, bits) simde_mm_srli_epi64(as_sse_integers(value), bits)
// The one builtin of gcc that Eigen calls by its name.
#define __builtin_ia32_sqrtsd(value) simde_mm_sqrt_pd(value)

// Makes Eigen use its code for SSE. The headers of SSE that it then includes are the empty ones in this folder.
#define __SSE2__ 1
