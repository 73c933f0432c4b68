// SPDX-License-Identifier: Apache-2.0
// The rounding model of an implementation, for the arithmetics of error bounds and of random errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace backgauge {

// 2 exp(-8^2 / 2) = 2.5e-14 is the chance that an error of random roundings is larger than so many deviations.
inline constexpr double kDeviations = 8;

// How operands of matrix products are split in parts that sum up to them, and which products of parts are computed:
// bounds.md 2.1. By default they are whole.
struct OperandParts {
  double roundoff = 0;  // of the first part; 0: operands are not split
  double products = 1;  // of parts, for each term
  double left_out = 0;  // what is missing of a term for lack of the others, relative to its size
  double size = 1;      // of the parts of an operand together, relative to its own
};

// The declared error of an activation y >= 0, where it is more than the standard one: bounds.md 3.6.
struct ActivationError {
  double absolute = 0, relative = 0;
  bool is_declared() const { return absolute > 0 || relative > 0; }
  double of(double y) const { return absolute + relative * y; }
};

// Where an implementation rounds, and how much: bounds.md 2.
struct RoundingModel {
  double unit_roundoff = 0;  // of every scalar operation and of sums
  double least_normal = 0;   // what underflow, gradual or flushed, may lose in one operation
  double largest = std::numeric_limits<double>::infinity();  // finite number of what it computes in
  double operand_roundoff = 0;   // of the operands of matrix products, when the contract allows narrower ones
  double operand_underflow = 0;  // what an operand may lose below the normal range of a narrower format
  double operand_largest = std::numeric_limits<double>::infinity();  // beyond it an operand may be infinite
  OperandParts parts{};
  double carry_roundoff = 0;  // of what passes from step to step through storage; 0: it does not
  double carry_underflow = 0;
  double carry_largest = std::numeric_limits<double>::infinity();
  bool rounds_saved = false;  // what passes from pass to pass and from layer to layer is rounded in the same way
  bool relu_slope_at_zero = false;
  ActivationError tanh_error{}, sigmoid_error{};
  double recomputed_co = 0;  // relative deviation of a recomputed co from the saved one, besides tanh_error; 0: it is
                             // not recomputed

  // The error of a standard activation y >= 0. 4 and 2: bounds.md 3.6.
  double standard_tanh(double y) const { return 4 * unit_roundoff * y; }
  double standard_sigmoid(double y) const { return 4 * unit_roundoff * y + 2 * unit_roundoff; }

  // Whether relu has the slope 1, and not 0, at a number: semantics.md 3.4.
  bool relu_passes(double p) const { return p > 0 || (p == 0 && relu_slope_at_zero); }

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
  double dot_gamma(double n, double more) const { return gamma(parts.products * n + more) * parts.size * parts.size; }
};

}  // namespace backgauge
