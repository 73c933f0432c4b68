// SPDX-License-Identifier: Apache-2.0
// The arithmetic of values and their error bounds: every element carries v, the exact value, and e, so that no IEEE
// evaluation of the same formulas, in any order of its sums and products, with or without FMA, with or without flushing
// subnormals, is further than e from v. Derivations: bounds.md, whose section numbers stand beside the operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/arithmetic/bounded_dot.h"

namespace backgauge {

template <class V>
class Bound {
 public:
  using Matrix = Bounded<V>;

  explicit Bound(const RoundingModel& model) : model_(model) {}
  const RoundingModel& model() const { return model_; }

  Matrix input(const double* values, Index rows, Index cols) const {
    return {exact_.input(values, rows, cols), Plane<double>::Zero(rows, cols)};
  }
  Matrix recomputable(const double* values, Index rows, Index cols) const {
    Matrix out = input(values, rows, cols);
    out.e = model_.recomputed_co * magnitude(out.v);
    return out;
  }
  Matrix zeros(Index rows, Index cols) const { return {exact_.zeros(rows, cols), Plane<double>::Zero(rows, cols)}; }
  Matrix ones(Index rows, Index cols) const { return {exact_.ones(rows, cols), Plane<double>::Zero(rows, cols)}; }
  // 1/(1-dropout) is a subtraction and a division of the implementation.
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    Matrix out{exact_.dropout_mask(keep, dropout, rows, cols), {}};
    out.e = model_.gamma(2) * magnitude(out.v);
    return out;
  }

  // bounds.md 3.1: m terms in any order.
  template <class... M>
  Matrix sum(const Matrix& first, const M&... rest) const {
    return sum_of({&first, &rest...});
  }
  Matrix sum(const std::vector<Matrix>& terms) const {
    std::vector<const Matrix*> pointers;
    for (const Matrix& term : terms) pointers.push_back(&term);
    return sum_of(pointers);
  }

  // bounds.md 3.2: m factors in any order.
  template <class... M>
  Matrix product(const Matrix& first, const M&... rest) const {
    return product_of({&first, &rest...});
  }
  Matrix negative(const Matrix& x) const { return {-x.v, x.e}; }

  // bounds.md 3.3, of split operands 2.1
  Matrix matmul(const Matrix& x, const Matrix& y) const {
    const BoundedDot<V> dot(model_, x, y);
    Matrix out{dot.value, dot.propagated};
    for (Index k = 0; k < out.size(); ++k) {
      const double n = dot.terms.data()[k];
      out.e.data()[k] = n == 0 ? 0
                               : out.e.data()[k] + (model_.dot_gamma(n, 1) + dot.operands) * dot.sizes.data()[k] +
                                     dot.underflow.data()[k];
      if (!finite(out.v.data()[k])) settle(out, k, dot_fate(x, y, k / out.cols(), k % out.cols()));
    }
    return out;
  }

  // bounds.md 3.4: c joins the sum anywhere, or is added to a product that has passed through storage.
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
    const BoundedDot<V> dot(model_, x, y);
    Matrix out{c.v + dot.value, c.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double n = dot.terms.data()[k];
      if (!finite(out.v.data()[k])) {
        settle(out, k, dot_fate(x, y, k / out.cols(), k % out.cols()).joined(fate_of(c, k)));
        continue;
      }
      if (n == 0) continue;
      const double size = dot.sizes.data()[k];
      const double c_size = magnitude(c.v.data()[k]) + c.e.data()[k];
      out.e.data()[k] += dot.propagated.data()[k] + model_.dot_gamma(n, 2) * (size + c_size) + dot.operands * size +
                         dot.underflow.data()[k] + model_.carry_roundoff * size +
                         (model_.carry_roundoff > 0 ? model_.carry_underflow : 0);
    }
    return out;
  }

  Matrix column_sums(const Matrix& x) const {  // bounds.md 3.1 with as many terms as there are rows
    Matrix out = zeros(1, x.cols());
    out.v = x.v.colwise().sum();
    for (Index c = 0; c < x.cols(); ++c) {
      double error = 0, size = 0, terms = 0;
      Fate fate;
      for (Index r = 0; r < x.rows(); ++r) {
        add_term(x, r * x.cols() + c, error, size, terms);
        fate = fate.joined(fate_of(x, r * x.cols() + c));
      }
      out.e(0, c) = sum_error(error, size, terms);
      if (!finite(out.v(0, c))) settle(out, c, fate);
    }
    return out;
  }

  // bounds.md 3.6
  Matrix sigmoid(const Matrix& x) const {
    Matrix out{exact_.sigmoid(x.v), x.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double s = magnitude(out.v.data()[k]), e = argument_error(x, k);
      const double slope = std::min(0.25, s * (1 - s) + 0.097 * e);
      out.e.data()[k] = slope * e + model_.activation_relative() * s + model_.sigmoid_absolute();
      if (!finite(out.v.data()[k])) settle(out, k, fate_of(x, k));
    }
    return out;
  }
  Matrix tanh(const Matrix& x) const {
    Matrix out{exact_.tanh(x.v), x.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double t = magnitude(out.v.data()[k]), e = argument_error(x, k);
      const double slope = std::min(1.0, 1 - t * t + 0.77 * e);
      out.e.data()[k] = slope * e + model_.activation_relative() * t + (t + e > 0 ? model_.least_normal : 0);
      if (!finite(out.v.data()[k])) settle(out, k, fate_of(x, k));
    }
    return out;
  }
  Matrix relu(const Matrix& x) const {
    Matrix out{exact_.relu(x.v), x.e};
    for (Index k = 0; k < out.size(); ++k) {
      if (!(x.v.data()[k] > 0)) {
        out.e.data()[k] = std::max(0.0, static_cast<double>(x.v.data()[k]) + x.e.data()[k]);
      }
    }
    return out;
  }

  // bounds.md 3.5: one operation each, whichever of its forms is computed; exact at 0 and at saturation.
  Matrix sigmoid_slope(const Matrix& s) const {
    Matrix out{exact_.sigmoid_slope(s.v), s.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double v = magnitude(s.v.data()[k]), e = s.e.data()[k];
      const bool exactly = e == 0 && (v == 0 || s.v.data()[k] == V(1));
      out.e.data()[k] =
          exactly ? 0 : std::abs(1 - 2 * v) * e + e * e + 2 * model_.unit_roundoff * (v + v * v) + model_.least_normal;
      if (!finite(out.v.data()[k])) {
        Fate fate = fate_of(s, k);
        if (s.v.data()[k] > 0) fate.open = true;  // s - s s is a NaN where s(1-s) is infinite
        settle(out, k, fate);
      }
    }
    return out;
  }
  Matrix tanh_slope(const Matrix& t) const {
    Matrix out{exact_.tanh_slope(t.v), t.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double v = magnitude(t.v.data()[k]), e = t.e.data()[k];
      const bool exactly = e == 0 && (v == 0 || v == 1);
      out.e.data()[k] = exactly ? 0 : 2 * v * e + e * e + 3 * model_.unit_roundoff * (1 + v * v) + model_.least_normal;
      if (!finite(out.v.data()[k])) settle(out, k, fate_of(t, k));
    }
    return out;
  }

  // bounds.md 3.7: where the sign of h is not certain, an implementation may take either side.
  Matrix where_positive(const Matrix& h, const Matrix& x) const {
    Matrix out = x;
    for (Index k = 0; k < out.size(); ++k) {
      const double value = static_cast<double>(h.v.data()[k]), e = h.e.data()[k];
      if (value > e) continue;
      const double either = value > 0 || e > 0 ? magnitude(x.v.data()[k]) + x.e.data()[k] : 0;
      out.e.data()[k] = either;
      if (!(value > 0)) out.v.data()[k] = V(0);
    }
    return out;
  }

  // bounds.md 3.8: (1-z) n + z h and n + z (h - n) alike.
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
    Matrix out{exact_.blend(z.v, h.v, n.v), z.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double ez = z.e.data()[k], eh = h.e.data()[k], en = n.e.data()[k];
      const double zs = magnitude(z.v.data()[k]) + ez, hs = magnitude(h.v.data()[k]) + eh;
      const double ns = magnitude(n.v.data()[k]) + en;
      const double rest = magnitude(V(1) - z.v.data()[k]);
      if (hs + ns == 0) {
        out.e.data()[k] = 0;
        continue;
      }
      out.e.data()[k] = magnitude(h.v.data()[k] - n.v.data()[k]) * ez + zs * eh + (rest + ez) * en + ez * (eh + en) +
                        model_.gamma(4) * ((rest + ez) * ns + zs * (hs + ns)) + 4 * model_.least_normal;
      if (!finite(out.v.data()[k])) {
        Fate fate = fate_of(z, k).joined(fate_of(h, k)).joined(fate_of(n, k));
        fate.open = true;  // the forms treat infinities differently; only a NaN goes through all of them
        settle(out, k, fate);
      }
    }
    return out;
  }
  Matrix clip(const Matrix& x, double limit) const { return {exact_.clip(x.v, limit), x.e}; }

  Matrix carried(const Matrix& x) const {
    if (model_.carry_roundoff == 0) return x;
    Matrix out = x;
    for (Index k = 0; k < out.size(); ++k) {
      const double size = magnitude(x.v.data()[k]) + x.e.data()[k];
      if (size > 0 && finite(x.v.data()[k])) out.e.data()[k] += model_.carry_roundoff * size + model_.carry_underflow;
    }
    return out;
  }

  Matrix transpose(const Matrix& x) const { return {x.v.transpose(), x.e.transpose()}; }
  Matrix rows(const Matrix& x, Index begin, Index count) const {
    return {x.v.middleRows(begin, count), x.e.middleRows(begin, count)};
  }
  Matrix columns(const Matrix& x, Index begin, Index count) const {
    return {x.v.middleCols(begin, count), x.e.middleCols(begin, count)};
  }
  Matrix repeat_row(const Matrix& row, Index count) const {
    return {row.v.replicate(count, 1), row.e.replicate(count, 1)};
  }
  Matrix beside(const std::vector<const Matrix*>& parts) const {
    const Index rows = parts.front()->rows();
    return {stack_columns(planes_of(parts, &Matrix::v), rows), stack_columns(planes_of(parts, &Matrix::e), rows)};
  }
  Matrix below(const std::vector<const Matrix*>& parts) const {
    const Index cols = parts.front()->cols();
    return {stack_rows(planes_of(parts, &Matrix::v), cols), stack_rows(planes_of(parts, &Matrix::e), cols)};
  }

 private:
  // What becomes of an element whose value is not finite: a NaN went in (it comes out in every order), or something
  // that may be anything did.
  struct Fate {
    bool nan = false;
    bool open = false;
    Fate joined(const Fate& other) const { return {nan || other.nan, open || other.open}; }
  };
  static bool finite(const V& v) { return std::isfinite(static_cast<double>(v)); }
  static bool is_infinite(const Matrix& x, Index k) { return std::isinf(static_cast<double>(x.v.data()[k])); }
  static Fate fate_of(const Matrix& x, Index k) {
    const bool nan = std::isnan(static_cast<double>(x.v.data()[k])), open = std::isinf(x.e.data()[k]);
    return {nan && !open, open};
  }
  // Of a product with a factor that is not finite: infinity times what may be zero, or may have either sign.
  static Fate product_fate(const Matrix& x, Index k, const Matrix& y, Index m) {
    Fate fate = fate_of(x, k).joined(fate_of(y, m));
    const auto uncertain = [](const Matrix& a, Index at) {
      return a.e.data()[at] > 0 && finite(a.v.data()[at]) && magnitude(a.v.data()[at]) <= a.e.data()[at];
    };
    if ((is_infinite(x, k) || is_infinite(y, m)) && (uncertain(x, k) || uncertain(y, m))) fate.open = true;
    return fate;
  }
  Fate dot_fate(const Matrix& x, const Matrix& y, Index row, Index column) const {
    Fate fate;
    for (Index n = 0; n < x.cols(); ++n) {
      const Index k = row * x.cols() + n, m = n * y.cols() + column;
      fate = fate.joined(product_fate(x, k, y, m));
      // The lower part of an infinite operand is a NaN, or that of the other one is zero.
      fate.open = fate.open || (model_.part_roundoff > 0 && (is_infinite(x, k) || is_infinite(y, m)));
    }
    return fate;
  }
  static void settle(Matrix& out, Index k, const Fate& fate) {
    out.e.data()[k] = 0;
    if (fate.nan) {
      out.v.data()[k] = std::numeric_limits<V>::quiet_NaN();
    } else if (fate.open) {
      out.v.data()[k] = std::numeric_limits<V>::quiet_NaN();
      out.e.data()[k] = std::numeric_limits<double>::infinity();
    }
  }

  // An infinite argument is infinite in every order of its sum, so it brings no error.
  static double argument_error(const Matrix& x, Index k) { return finite(x.v.data()[k]) ? x.e.data()[k] : 0; }

  static void add_term(const Matrix& x, Index k, double& error, double& size, double& terms) {
    const double magnitude_and_error = magnitude(x.v.data()[k]) + x.e.data()[k];
    error += x.e.data()[k];
    size += magnitude_and_error;
    if (magnitude_and_error != 0) ++terms;
  }
  double sum_error(double error, double size, double terms) const {
    return terms == 0 ? 0 : error + model_.gamma(terms - 1) * size + terms * model_.least_normal;
  }

  Matrix sum_of(const std::vector<const Matrix*>& parts) const {
    Matrix out = *parts.front();
    for (std::size_t p = 1; p < parts.size(); ++p) out.v += parts[p]->v;
    for (Index k = 0; k < out.size(); ++k) {
      double error = 0, size = 0, terms = 0;
      Fate fate;
      for (const Matrix* part : parts) {
        add_term(*part, k, error, size, terms);
        fate = fate.joined(fate_of(*part, k));
      }
      out.e.data()[k] = sum_error(error, size, terms);
      if (!finite(out.v.data()[k])) settle(out, k, fate);
    }
    return out;
  }

  Matrix product_of(const std::vector<const Matrix*>& parts) const {
    Matrix out = *parts.front();
    for (std::size_t p = 1; p < parts.size(); ++p) out.v *= parts[p]->v;
    const double roundings = static_cast<double>(parts.size() - 1);
    for (Index k = 0; k < out.size(); ++k) {
      double error = 0, exact_size = 1, underflow = roundings * model_.least_normal;
      bool zero = false, infinite = false;
      for (const Matrix* part : parts) {
        const double v = magnitude(part->v.data()[k]), e = part->e.data()[k];
        zero = zero || v + e == 0;
        infinite = infinite || !std::isfinite(e);
        error = error * (v + e) + exact_size * e;
        exact_size *= v;
        underflow *= std::max(1.0, v + e);
      }
      if (!finite(out.v.data()[k])) {
        Fate fate;
        for (const Matrix* part : parts) {
          for (const Matrix* other : parts) fate = fate.joined(product_fate(*part, k, *other, k));
        }
        settle(out, k, fate);
        continue;
      }
      // A factor that is exactly zero makes the product exactly zero, but for an operand that has overflowed.
      if (zero && infinite && std::isfinite(model_.operand_largest)) {
        out.e.data()[k] = std::numeric_limits<double>::infinity();
        continue;
      }
      out.e.data()[k] = zero ? 0 : error + model_.gamma(roundings) * (exact_size + error) + underflow;
    }
    return out;
  }

  RoundingModel model_;
  static inline const Exact<V> exact_{};
};

}  // namespace backgauge
