// SPDX-License-Identifier: Apache-2.0
// Places the tensors of a timed call in their pages: each starts at a multiple of 64 bytes, and no two are a multiple
// of 4096 bytes apart.
#pragma once

#include <cstddef>

namespace backgauge {

inline constexpr std::size_t kLine = 64, kPage = 4096;

// The alignment of cudaMalloc, as in ordinary programs.
inline constexpr std::size_t kDeviceAlignment = 256;

// `number`: of the tensor, below 64. `shift`: in lines; moves all tensors of a call alike.
constexpr std::size_t place_in_page(std::size_t number, std::size_t shift) {
  constexpr std::size_t kStagger = 5 * kLine;  // odd in lines: 64 tensors before two of them meet again
  return (number * kStagger + shift * kLine) % kPage;
}

}  // namespace backgauge
