// SPDX-License-Identifier: Apache-2.0
// Two functions of integers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011), a counter-based generator, and the hash FNV-1a in 64 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace backgauge {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// 128 bits that depend on counter and key alone.
inline PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325u;

// Continues `hash` over `count` bytes.
inline std::uint64_t fnv1a(const void* bytes, std::size_t count, std::uint64_t hash = kFnvBasis) {
  constexpr std::uint64_t kPrime = 0x100000001b3u;
  const unsigned char* byte = static_cast<const unsigned char*>(bytes);
  for (std::size_t k = 0; k < count; ++k) hash = (hash ^ byte[k]) * kPrime;
  return hash;
}
inline std::uint64_t fnv1a(std::string_view text) { return fnv1a(text.data(), text.size()); }

}  // namespace backgauge
