// SPDX-License-Identifier: Apache-2.0
// Many uniform random numbers at a time: four xoshiro128+ generators side by side, in a form that compilers turn into
// vector instructions. Equal seeds, equal numbers, on any compiler.
#pragma once

#include <algorithm>
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

  // The next `count` numbers in [-1, 1), valid until the next call. 32 bits are enough for the size of a rounding.
  static constexpr int kMost = 256;
  const double* next(int count) {
    Lanes a = state_[0], b = state_[1], c = state_[2], d = state_[3];
    for (int k = 0; k < count; k += kLanes) {
      const Lanes sum = a + d, shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = (d << 11) | (d >> 21);
      for (int lane = 0; lane < kLanes; ++lane) {
        numbers_[k + lane] = static_cast<double>(static_cast<std::int32_t>(sum[lane])) * 0x1p-31;
      }
    }
    state_ = {a, b, c, d};
    return numbers_.data();
  }

  // A number in [-1, 1) that depends on nothing but the seed, the value and the stream.
  double of(double value, std::uint64_t stream) const {
    std::uint64_t state = std::bit_cast<std::uint64_t>(value) ^ seed_;
    state = splitmix64(state) ^ stream;
    return static_cast<double>(static_cast<std::int64_t>(splitmix64(state))) * 0x1p-63;
  }

 private:
  static constexpr int kLanes = 4;
  typedef std::uint32_t Lanes __attribute__((vector_size(4 * kLanes)));  // gcc and clang alike

  static std::uint64_t splitmix64(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
  std::array<Lanes, 4> state_;
  std::array<double, kMost> numbers_;
};

}  // namespace backgauge
