// SPDX-License-Identifier: Apache-2.0
// The memory layout of the gradients of the 4 H gates of a row. A column is a gate's column in w: block g, unit j is
// column g * H + j. A place is its position in the row.
#pragma once

#include <cstdint>

#include "properties/saboteurs/work.h"

namespace backgauge::saboteurs {

template <class Real>
class Gates {
 public:
  using Index = std::int64_t;

  Gates(const Work<Real>& work, Index H)
      : H_(H), neighbours_(work.style().padded_gates), narrow_index_(work.is(Fault::kH17)) {}

  // Distance between rows. Padded rows are rounded up to vectors of 8, and have one more vector.
  Index stride() const { return neighbours_ ? (4 * H_ + 7) / 8 * 8 + 8 : 4 * H_; }

  Index at(Index block, Index unit) const { return neighbours_ ? unit * 4 + block : block * H_ + unit; }
  Index place(Index column) const { return at(column / H_, column % H_); }
  Index column(Index place) const { return neighbours_ ? place % 4 * H_ + place / 4 : place; }

  Index index(Index i) const { return narrow_index_ ? static_cast<std::uint16_t>(i) : i; }

 private:
  const Index H_;
  const bool neighbours_, narrow_index_;
};

}  // namespace backgauge::saboteurs
