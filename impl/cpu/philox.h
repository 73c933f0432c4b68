// SPDX-License-Identifier: Apache-2.0
// Which elements dropout keeps, as a function of the seeds and the element alone. impl/README.md defines it.
#pragma once

#include <array>
#include <cstdint>

namespace backgauge::cpu {

// Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
inline std::array<std::uint32_t, 4> philox(std::uint64_t low, std::uint64_t high, std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  auto c0 = static_cast<std::uint32_t>(low), c1 = static_cast<std::uint32_t>(low >> 32);
  auto c2 = static_cast<std::uint32_t>(high), c3 = static_cast<std::uint32_t>(high >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53u} * c0, second = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(second >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(second);
    c2 = static_cast<std::uint32_t>(first >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(first);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

// semantics.md 3.6: seed above, seed2 below, where a negative seed2 fills the upper half with ones.
inline std::uint64_t dropout_key(std::int64_t seed, std::int64_t seed2) {
  return (static_cast<std::uint64_t>(seed) << 32) | static_cast<std::uint64_t>(seed2);
}

// Elements 4 * block .. 4 * block + 3 of the output of layer `gap`: 1 where kept.
inline std::array<std::uint8_t, 4> dropout_keep(std::uint64_t key, std::int64_t gap, std::int64_t block,
                                                float dropout) {
  const auto words = philox(static_cast<std::uint64_t>(block), static_cast<std::uint64_t>(gap), key);
  std::array<std::uint8_t, 4> keep;
  for (std::size_t k = 0; k < 4; ++k) {
    keep[k] = static_cast<double>(words[k]) * 0x1p-32 >= static_cast<double>(dropout);  // in [0, 1): 1 drops all
  }
  return keep;
}

}  // namespace backgauge::cpu
