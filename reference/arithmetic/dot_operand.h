// SPDX-License-Identifier: Apache-2.0
// What a product of matrices reads of an operand with error bounds. Of weights it is asked for at every step.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "reference/arithmetic/bounded.h"
#include "reference/arithmetic/nonfinite.h"

namespace backgauge {

enum class Side { kLeft, kRight };

// What went into a row of a left operand, or into a column of a right one.
struct DotLine {
  NonFinite nonfinite{};
  bool infinite = false;
};

struct DotOperand {
  Plane<double> magnitudes;    // |v|; empty where there are no errors
  Plane<double> sizes;         // |v| + e, and 0 of what is infinite: it is in no finite sum
  bool exact;                  // there are no errors
  bool full;                   // no size is 0
  Plane<double> largest;       // of each row, [m, 1], or column, [1, n]
  std::vector<DotLine> lines;  // of each row or column; empty where all is finite and stays so

  template <class V>
  DotOperand(const RoundingModel& model, const Bounded<V>& x, Side side) : exact(all_zero(x.e)) {
    sizes = magnitude(x.v);
    if (!exact) {
      magnitudes = sizes;
      sizes += x.e;
    }
    full = zeros_of(sizes) == 0;
    const double most = std::min(model.operand_largest, std::numeric_limits<double>::max());
    Index large = 0;
    for (Index k = 0; k < sizes.size(); ++k) large += sizes.data()[k] <= most ? 0 : 1;
    if (large > 0) look_at_lines(model, x, side, most);
    if (sizes.size() == 0) return;
    if (side == Side::kLeft) {
      largest = sizes.rowwise().maxCoeff();
    } else {
      largest = sizes.topRows(1);  // row by row as they lie in memory
      for (Index n = 1; n < sizes.rows(); ++n) largest = largest.max(sizes.row(n));
    }
  }

  const Plane<double>& values() const { return exact ? sizes : magnitudes; }

 private:
  template <class V>
  void look_at_lines(const RoundingModel& model, const Bounded<V>& x, Side side, double most) {
    lines.resize(static_cast<std::size_t>(side == Side::kLeft ? x.rows() : x.cols()));
    for (Index k = 0; k < sizes.size(); ++k) {
      if (sizes.data()[k] <= most) continue;
      DotLine& line = lines[static_cast<std::size_t>(side == Side::kLeft ? k / x.cols() : k % x.cols())];
      line.nonfinite = line.nonfinite.joined(nonfinite_of(x, k));
      if (is_infinite(x, k)) {
        line.infinite = true;
        // The lower part of an infinite operand is a NaN, or that of the other one is 0.
        line.nonfinite.open = line.nonfinite.open || model.part_roundoff > 0;
        sizes.data()[k] = 0;
      } else if (is_finite(x.v.data()[k])) {
        line.nonfinite.open = true;  // an operand that has become infinite
      }
    }
  }
};

}  // namespace backgauge
