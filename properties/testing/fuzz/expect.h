// SPDX-License-Identifier: Apache-2.0
// Checks a condition that must hold for every input; a fuzzer stops at the first input that breaks it.
#pragma once

#include <cstdio>
#include <cstdlib>

#define BACKGAUGE_FUZZ_EXPECT(condition)                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (false)
