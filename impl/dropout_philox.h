// SPDX-License-Identifier: Apache-2.0
// Draws dropout masks: the elements that are kept, a function of the seeds and the element alone, which README.md
// defines. For C++ and CUDA, so that `cpu` and `cuda` draw the same masks.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define BACKGAUGE_HOST_AND_DEVICE __host__ __device__
#else
#define BACKGAUGE_HOST_AND_DEVICE
#endif

namespace backgauge {

struct PhiloxWords {
  std::uint32_t of[4];
};

// Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
BACKGAUGE_HOST_AND_DEVICE inline PhiloxWords philox(std::uint64_t low, std::uint64_t high, std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  PhiloxWords c = {{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                    static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53u} * c.of[0], second = std::uint64_t{0xCD9E8D57u} * c.of[2];
    c = {{static_cast<std::uint32_t>(second >> 32) ^ c.of[1] ^ k0, static_cast<std::uint32_t>(second),
          static_cast<std::uint32_t>(first >> 32) ^ c.of[3] ^ k1, static_cast<std::uint32_t>(first)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// semantics.md 3.6: seed above, seed2 below, where a negative seed2 fills the upper half with ones.
inline std::uint64_t dropout_key(std::int64_t seed, std::int64_t seed2) {
  return (static_cast<std::uint64_t>(seed) << 32) | static_cast<std::uint64_t>(seed2);
}

// Elements that one draw decides on.
inline constexpr int kDropoutDraw = 4;

// The words that decide on elements kDropoutDraw * draw and following of the output of layer `gap`, where `direction`
// of the layer above reads it.
BACKGAUGE_HOST_AND_DEVICE inline PhiloxWords dropout_words(std::uint64_t key, std::int64_t gap, std::int64_t direction,
                                                           std::int64_t draw) {
  const auto place = static_cast<std::uint64_t>(direction) << 32 | static_cast<std::uint64_t>(gap);
  return philox(static_cast<std::uint64_t>(draw), place, key);
}

// The word as a number in [0, 1), so that a dropout of 1 keeps nothing.
BACKGAUGE_HOST_AND_DEVICE inline bool is_kept(std::uint32_t word, double dropout) {
  return static_cast<double>(word) * 0x1p-32 >= dropout;
}

}  // namespace backgauge
