// SPDX-License-Identifier: Apache-2.0
// Draws dropout masks: a function of the seeds and the element only, which impl/README.md defines.
#pragma once

#include <array>
#include <cstdint>

namespace backgauge::plain {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

// semantics.md 3.6: seed in the upper half, seed2 in the lower. A negative seed2 sets the upper half to ones.
inline std::uint64_t seed_of(std::int64_t seed, std::int64_t seed2) {
  return (static_cast<std::uint64_t>(seed) << 32) | static_cast<std::uint64_t>(seed2);
}

// element: flat index into the [T, B, D*H] output of the layer before the gap. direction: of the layer that reads it.
inline bool kept(std::uint64_t seed, std::int64_t gap, std::int64_t direction, std::int64_t element, float dropout) {
  const auto block = static_cast<std::uint64_t>(element) / 4;
  const auto words = philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                             static_cast<std::uint32_t>(gap), static_cast<std::uint32_t>(direction)},
                            {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const double uniform = words[static_cast<std::size_t>(element % 4)] * 0x1p-32;  // in [0, 1): 0 keeps all, 1 none
  return uniform >= static_cast<double>(dropout);
}

}  // namespace backgauge::plain
