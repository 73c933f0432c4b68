// SPDX-License-Identifier: Apache-2.0
// The positions of the blocks of an arena within their pages: a function of a seed and the block's number.
//
// Flush placements (half of the seeds) put each block at one end of its pages, directly next to a guard page. Shifted
// placements leave 1 to 15 elements of canary there, and never align a block to more than one element: its address
// divided by the size of an element is odd.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backgauge {

enum class Edge { kStart, kEnd };

class Placement {
 public:
  explicit Placement(std::uint64_t seed);

  // Each block at its other edge, flush if this placement is shifted and vice versa. In a case that runs with both,
  // each tensor lies once next to a guard page, and is once aligned to no more than one element.
  Placement opposite() const;

  bool shifted() const { return shifted_; }
  Edge edge(std::size_t block) const;
  std::size_t distance(std::size_t block) const;  // to that edge, in elements: 0 if flush, 1..15 if shifted

 private:
  std::uint64_t seed_;
  bool shifted_;
  bool mirrored_ = false;
};

}  // namespace backgauge
