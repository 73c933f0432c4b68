// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/placement.h"

namespace backgauge {
namespace {

// The finaliser of SplitMix64: every bit of the result depends on every bit of the argument.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Placement::Placement(std::uint64_t seed) : seed_(mixed(seed)), shifted_((seed_ & 1) != 0) {}

Placement Placement::opposite() const {
  Placement other = *this;
  other.shifted_ = !shifted_;
  other.mirrored_ = !mirrored_;
  return other;
}

Edge Placement::edge(std::size_t block) const {
  return ((mixed(seed_ + block) & 1) != 0) != mirrored_ ? Edge::kEnd : Edge::kStart;
}

std::size_t Placement::distance(std::size_t block) const { return shifted_ ? 1 + (mixed(seed_ + block) >> 8) % 15 : 0; }

}  // namespace backgauge
