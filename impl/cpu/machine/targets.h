// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the vector code is compiled for; included before any header of Highway. Those between the
// scalar fallback and AVX2 are left out: such machines are obsolete, and their conversions of half round incorrectly.
#pragma once

#ifdef BACKGAUGE_WITHOUT_AVX512
#define BACKGAUGE_LEFT_OUT_BY_BUILD HWY_AVX3
#else
#define BACKGAUGE_LEFT_OUT_BY_BUILD 0
#endif
// The fallback is HWY_SCALAR with every compiler: without this, Highway uses HWY_EMU128 with those that compile it
// correctly.
#define HWY_BROKEN_EMU128 1
#define HWY_DISABLED_TARGETS                                                                           \
  (HWY_EMU128 | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | \
   BACKGAUGE_LEFT_OUT_BY_BUILD)

// On ARM, Highway leaves out the fallback, as every processor has NEON: with this it compiles both. On x86-64 the
// fallback is what every processor has.
#if defined(__aarch64__)
#define HWY_COMPILE_ALL_ATTAINABLE
#endif

#include <hwy/detect_targets.h>
