// SPDX-License-Identifier: Apache-2.0
// Ranges cut into blocks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace backgauge::cpu {

inline std::int64_t blocks(std::int64_t total, std::int64_t size) { return (total + size - 1) / size; }

struct Block {
  std::int64_t begin, size;
  std::int64_t end() const { return begin + size; }
};

// 0 .. total - 1 in `count` blocks whose lengths differ by at most one. Divides once.
class Blocks {
 public:
  Blocks(std::int64_t total, std::int64_t count)
      : each_(count == 0 ? 0 : total / count), rest_(count == 0 ? 0 : total % count) {}

  Block operator[](std::int64_t index) const {
    return {each_ * index + std::min(index, rest_), each_ + (index < rest_ ? 1 : 0)};
  }

 private:
  std::int64_t each_, rest_;
};

inline Block block(std::int64_t total, std::int64_t count, std::int64_t index) { return Blocks(total, count)[index]; }

}  // namespace backgauge::cpu
