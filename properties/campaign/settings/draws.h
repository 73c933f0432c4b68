// SPDX-License-Identifier: Apache-2.0
// A sequence of random choices: a function of (seed, name) and of the order in which they are made.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "properties/case/line/random.h"

namespace backgauge {

class Draws {
 public:
  Draws(std::uint64_t seed, std::string_view name) : stream_(seed, name) {}

  std::int64_t below(std::int64_t count) { return stream_.choice(next_++, count); }  // 0 .. count - 1
  bool once_in(std::int64_t count) { return below(count) == 0; }
  template <class T>
  T pick(std::span<const T> from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }
  template <class T, std::size_t N>
  T pick(const T (&from)[N]) {
    return pick(std::span<const T>(from));
  }
  std::uint64_t seed() { return stream_.bits(next_++) >> 32; }  // the seed of a case; 32 bits keep its line short

 private:
  RandomStream stream_;
  std::int64_t next_ = 0;
};

}  // namespace backgauge
