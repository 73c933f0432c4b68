// SPDX-License-Identifier: Apache-2.0
// The form in which a product of matrices reads an operand with error bounds. It is cached for weights, which every
// step reads.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "reference/arithmetic/bounded.h"
#include "reference/arithmetic/nonfinite.h"

namespace backgauge {

enum class Side { kLeft, kRight };

// Values that are not finite in a row of a left operand, or in a column of a right one.
struct DotLine {
  NonFinite nonfinite{};
  bool infinite = false;
};

struct DotOperand {
  Plane<double> magnitudes;  // |v|; empty where there are no errors
  Plane<double> sizes;       // |v| + e; 0 where that is infinite, which no finite sum contains
  bool exact;                // there are no errors
  bool full;                 // no size is 0
  std::optional<ExactTerms> terms;
  Plane<double> largest;       // of each row, [m, 1], or column, [1, n]
  std::vector<DotLine> lines;  // of each row or column; empty where all is finite and stays so

  template <class V>
  DotOperand(const RoundingModel& model, const Bounded<V>& x, Side side) : exact(all_zero(x.e)), terms(terms_of(x)) {
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
        // Where operands are split, the lower part of an infinity is a NaN, or is multiplied by a lower part that is 0.
        line.nonfinite.open = line.nonfinite.open || model.parts.roundoff > 0;
        sizes.data()[k] = 0;
      } else if (is_finite(x.v.data()[k])) {
        line.nonfinite.open = true;  // an operand that has become infinite
      }
    }
  }
};

}  // namespace backgauge
