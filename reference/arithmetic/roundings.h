// SPDX-License-Identifier: Apache-2.0
// The rounding model of an implementation, for the arithmetics of error bounds and of random errors.
#pragma once

#include <cmath>
#include <limits>

namespace backgauge {

// 2 exp(-8^2 / 2) = 2.5e-14 is the chance that an error of random roundings is larger than so many deviations.
inline constexpr double kDeviations = 8;

// Where an implementation rounds, and how much: bounds.md 2.
struct RoundingModel {
  double unit_roundoff = 0;  // of every scalar operation and of sums
  double least_normal = 0;   // what underflow, gradual or flushed, may lose in one operation
  double largest = std::numeric_limits<double>::infinity();  // finite number of what it computes in
  double operand_roundoff = 0;   // of the operands of matrix products, when the contract allows narrower ones
  double operand_underflow = 0;  // what an operand may lose below the normal range of a narrower format
  double operand_largest = std::numeric_limits<double>::infinity();  // beyond it an operand may be infinite
  double part_roundoff = 0;   // of each of the two parts that operands of matrix products are split in; 0: they are not
  double carry_roundoff = 0;  // of what passes from step to step through storage; 0: it does not
  double carry_underflow = 0;
  double carry_largest = std::numeric_limits<double>::infinity();
  bool relu_slope_at_zero = false;
  double recomputed_co = 0;  // relative deviation of a recomputed co from the saved one; 0: it is not recomputed

  // Activations inside an implementation. 4 and 2: bounds.md 3.6.
  double activation_relative() const { return 4 * unit_roundoff; }
  double sigmoid_absolute() const { return 2 * unit_roundoff; }

  // Whether relu has the slope 1, and not 0, at a number: semantics.md 3.4.
  bool relu_passes(double p) const { return p > 0 || (p == 0 && relu_slope_at_zero); }

  // For a term of a product of matrices: the number of products that it is computed as, and the relative size of the
  // product that is left out, where operands are in two parts. bounds.md 2.1
  double products_of_term() const { return part_roundoff > 0 ? 3 : 1; }
  double left_out() const { return part_roundoff * part_roundoff; }

  // Largest relative error of n roundings in a row; infinite where the first-order model ends.
  double gamma(double n) const {
    const double nu = n * unit_roundoff;
    return nu < 1 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
  }
  // The largest factor by which n roundings in a row enlarge a number.
  double growth(double n) const {
    const double nu = n * unit_roundoff;
    return nu < 1 ? 1 + nu + nu * nu : std::exp(nu);  // both are at least exp(nu)
  }
  // gamma for the sum of n terms of a product of matrices, and `more` roundings.
  double dot_gamma(double n, double more) const {
    const double size_of_parts = (1 + 2 * part_roundoff) * (1 + 2 * part_roundoff);
    return gamma(products_of_term() * n + more) * size_of_parts;
  }
};

}  // namespace backgauge
