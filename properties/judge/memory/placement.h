// SPDX-License-Identifier: Apache-2.0
// Where the blocks of an arena lie within their pages: a function of a seed and the block's number.
//
// Flush placements (half of the seeds) put every block at one end of its pages, so that its first neighbour on that
// side is a guard page. Shifted placements keep 1 to 15 elements of canary there, and never align a block to more than
// one element: base / element size is odd.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backgauge {

enum class Edge { kStart, kEnd };

class Placement {
 public:
  explicit Placement(std::uint64_t seed);

  // Every block at its other edge, flush if this one is shifted and the other way round: a case that runs under both
  // has had every tensor flush with a guard page once, and aligned to one element and nothing more once.
  Placement opposite() const;

  bool shifted() const { return shifted_; }
  Edge edge(std::size_t block) const;
  std::size_t distance(std::size_t block) const;  // from that edge, in elements: 0 if flush, 1..15 if shifted

 private:
  std::uint64_t seed_;
  bool shifted_;
  bool mirrored_ = false;
};

}  // namespace backgauge
