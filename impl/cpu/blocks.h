// SPDX-License-Identifier: Apache-2.0
// Ranges cut into blocks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace backgauge::cpu {

inline std::int64_t blocks(std::int64_t total, std::int64_t size) { return (total + size - 1) / size; }

// Block `index` of `count` blocks of 0 .. total - 1, none of them more than one longer than another.
struct Block {
  std::int64_t begin, size;
  std::int64_t end() const { return begin + size; }
};
inline Block block(std::int64_t total, std::int64_t count, std::int64_t index) {
  const std::int64_t each = total / count, rest = total % count;
  return {each * index + std::min(index, rest), each + (index < rest ? 1 : 0)};
}

}  // namespace backgauge::cpu
