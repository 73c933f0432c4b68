// SPDX-License-Identifier: Apache-2.0
// Derivatives by a complex step: with a step whose square is zero in long double, the imaginary part of a result
// divided by the step is the derivative, up to rounding.
#pragma once

#include <complex>
#include <vector>

#include "reference/arithmetic/exact.h"
#include "reference/contract/call.h"
#include "reference/evaluate.h"

namespace backgauge {

using Complex = std::complex<long double>;
// Its square underflows to 0: the derivative has no error of the second order, and a pre-activation of 0 stays at 0.
inline constexpr long double kStep = 1e-3000L;

// Exact complex arithmetic in which one tensor of a problem is displaced by i * kStep * step. At 0, relu has the slope
// 0 or, if `slope_at_zero`, 1.
class Perturbed : public Exact<Complex> {
 public:
  Perturbed(const Tensor& tensor, const std::vector<double>& step, bool slope_at_zero = false)
      : tensor_(tensor), step_(step), slope_at_zero_(slope_at_zero) {}

  Matrix relu(const Matrix& x) const { return where_positive(x, x, slope_at_zero_); }

  Matrix input(const double* values, Index rows, Index cols) const {
    Matrix out = Exact<Complex>::input(values, rows, cols);
    const double* begin = tensor_.values.data();
    if (values < begin || values >= begin + tensor_.values.size()) return out;
    for (Index k = 0; k < out.size(); ++k) {
      out.data()[k] +=
          Complex(0, kStep * static_cast<long double>(step_[static_cast<std::size_t>(values - begin + k)]));
    }
    return out;
  }

 private:
  const Tensor& tensor_;
  const std::vector<double>& step_;
  bool slope_at_zero_;
};

// Derivative of the sum of upstream times output.
inline long double derivative(const std::vector<Plane<Complex>>& outputs, const double* upstream) {
  long double out = 0;
  for (const auto& part : outputs) {
    for (Index k = 0; k < part.size(); ++k) {
      out += part.data()[k].imag() / kStep * static_cast<long double>(*upstream++);
    }
  }
  return out;
}

}  // namespace backgauge
