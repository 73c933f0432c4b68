// SPDX-License-Identifier: Apache-2.0
// Many uniform random numbers at a time: eight xoshiro128+ generators, in a form that compilers turn into vector
// instructions. Equal seeds give equal numbers with any compiler.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace backgauge {

class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : seed_(seed) {
    for (Lanes& word : state_) {
      for (int lane = 0; lane < kLanes; ++lane) word[lane] = static_cast<std::uint32_t>(splitmix64(seed) >> 32);
    }
  }

  // The next `count` numbers in [-1, 1], valid until the next call. 24 bits are enough for the size of a rounding.
  static constexpr int kMost = 256;
  const float* next(int count) {
    if (kMost - used_ < count) refill();
    const float* const out = numbers_.data() + used_;
    used_ += count;
    return out;
  }

  // A number in [-1, 1) that depends only on the seed, the value and the stream.
  double of(double value, std::uint64_t stream) const {
    std::uint64_t state = std::bit_cast<std::uint64_t>(value) ^ seed_;
    state = splitmix64(state) ^ stream;
    return static_cast<double>(static_cast<std::int64_t>(splitmix64(state))) * 0x1p-63;
  }

 private:
  static constexpr int kLanes = 8;
  typedef std::uint32_t Lanes __attribute__((vector_size(4 * kLanes)));  // gcc and clang have both

  void refill() {
    Lanes a = state_[0], b = state_[1], c = state_[2], d = state_[3];
    for (int k = 0; k < kMost; k += kLanes) {
      const Lanes sum = a + d, shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = (d << 11) | (d >> 21);
      for (int lane = 0; lane < kLanes; ++lane) {
        numbers_[k + lane] = static_cast<float>(static_cast<std::int32_t>(sum[lane])) * 0x1p-31f;
      }
    }
    state_ = {a, b, c, d};
    used_ = 0;
  }

  static std::uint64_t splitmix64(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
  std::array<Lanes, 4> state_;
  std::array<float, kMost> numbers_;
  int used_ = kMost;
};

}  // namespace backgauge
