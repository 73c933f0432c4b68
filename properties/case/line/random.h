// SPDX-License-Identifier: Apache-2.0
// Random values without state: each is a function of (seed, name, index), and has the same bits on every compiler,
// because it is computed with integers, exact conversions and one IEEE multiplication only.
#pragma once

#include <cstdint>
#include <string_view>

#include "properties/case/line/philox.h"

namespace backgauge {

class RandomStream {
 public:
  // The seed is the key, the hash of the name is one half of the counter, the index the other. Different (seed, index)
  // of one name never share a block, and neither do different names unless their hashes collide.
  RandomStream(std::uint64_t seed, std::string_view name) : seed_(seed), name_(fnv1a(name)) {}

  // 64 random bits.
  std::uint64_t bits(std::int64_t index) const {
    const PhiloxBlock block = at(index);
    return join(block[0], block[1]);
  }

  // In (0, 1), never an end: an odd multiple of 2^-53.
  double uniform(std::int64_t index) const { return static_cast<double>(((bits(index) >> 12) << 1) | 1u) * 0x1p-53; }

  // Nearly N(0, 1): the sum of seven uniforms, scaled. Each is (2k + 1 - 2^18) / 2^19 with k of 18 bits, of mean 0 and
  // variance (1 - 2^-36) / 12; the sum of seven has variance 7/12 (1 - 2^-36), so sqrt(12/7) makes it 1. Seven odd
  // numbers add up to an odd one: never 0. At most 4.58; excess kurtosis -1.2 / 7.
  double normal(std::int64_t index) const {
    const PhiloxBlock block = at(index);
    const std::uint64_t low = join(block[0], block[1]), high = join(block[2], block[3]);
    constexpr std::uint64_t kMask = (1u << 18) - 1;
    std::uint64_t sum = ((low >> 54) << 8) | (high >> 56);
    for (int shift = 0; shift < 54; shift += 18) sum += ((low >> shift) & kMask) + ((high >> shift) & kMask);
    constexpr double kScale = 1.3093073414159542 * 0x1p-19;  // sqrt(12/7), rounded
    return static_cast<double>(2 * static_cast<std::int64_t>(sum) + 7 - 7 * (std::int64_t{1} << 18)) * kScale;
  }

  double sign(std::int64_t index) const { return bits(index) >> 63 ? -1.0 : 1.0; }

  // In 0 .. count - 1, count < 2^32.
  std::int64_t choice(std::int64_t index, std::int64_t count) const {
    return static_cast<std::int64_t>(((bits(index) >> 32) * static_cast<std::uint64_t>(count)) >> 32);
  }

 private:
  PhiloxBlock at(std::int64_t index) const {
    const std::uint64_t position = static_cast<std::uint64_t>(index);
    return philox({low_word(position), high_word(position), low_word(name_), high_word(name_)},
                  {low_word(seed_), high_word(seed_)});
  }
  static std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
  static std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
  static std::uint64_t join(std::uint32_t low, std::uint32_t high) { return (std::uint64_t{high} << 32) | low; }

  std::uint64_t seed_, name_;
};

}  // namespace backgauge
