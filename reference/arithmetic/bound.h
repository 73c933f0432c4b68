// SPDX-License-Identifier: Apache-2.0
// The arithmetic of values and their error bounds: every element carries v, the exact value, and e, so that no IEEE
// evaluation of the same formulas, in any order of its sums and products, with or without FMA, with or without flushing
// subnormals, is further than e from v. nonfinite.h says what values that are not finite mean. Derivations: bounds.md;
// comments name its sections.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "reference/arithmetic/bounded_dot.h"
#include "reference/arithmetic/exact.h"
#include "reference/arithmetic/nonfinite.h"
#include "reference/arithmetic/range.h"

namespace backgauge {

// What the error of a sum is made of. error and size: sums over the finite terms.
template <class V>
struct BoundedTerms {
  double error = 0, size = 0, count = 0;
  NonFinite nonfinite{};

  void add(const Bounded<V>& x, Index k) {
    nonfinite = nonfinite.joined(nonfinite_of(x, k));
    if (!is_finite(x.v.data()[k])) return;
    error += x.e.data()[k];
    size += size_of(x, k);
    if (size_of(x, k) != 0) ++count;
  }
};

template <class V>
class Bound : public PlaneArithmetic<Bound<V>, Bounded<V>, V> {
 public:
  using Matrix = Bounded<V>;

  explicit Bound(const RoundingModel& model) : model_(model) {}
  const RoundingModel& model() const { return model_; }

  Matrix recomputable(const double* values, Index rows, Index cols) const {
    Matrix out = this->input(values, rows, cols);
    if (model_.recomputed_co == 0) return out;
    out.e = (model_.recomputed_co + model_.tanh_error.relative) * magnitude(out.v) + model_.tanh_error.absolute;
    return out;
  }
  // 1/(1-dropout) is a subtraction and a division of the implementation.
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    Matrix out{exact_.dropout_mask(keep, dropout, rows, cols), {}};
    out.e = model_.gamma(2) * magnitude(out.v);
    out.choice = true;
    return out;
  }

  Matrix negative(const Matrix& x) const { return {-x.v, x.e}; }
  Matrix difference(const Matrix& x, const Matrix& y) const {
    Matrix out = this->sum(x, negative(y));
    out.reach = out.e;
    for (Index k = 0; k < out.size(); ++k) {
      out.reach.data()[k] = reach_of_difference(size_of(x, k), size_of(y, k), size_of(out, k));
    }
    return out;
  }

  // bounds.md 3.3; for split operands 2.1
  Matrix matmul(const Matrix& x, const Matrix& y) const {
    Dot dot(model_);
    dot.add(x, y);
    return total_of(std::move(dot));
  }

  // bounds.md 3.4: c is a term of the sum at any place, or is added to a product that has been rounded to storage.
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
    Dot dot(model_);
    dot.add(x, y);
    const Plane<double> propagated = dot.take_propagated();
    Matrix out{c.v + dot.take_value(), c.e};
    const std::optional<ExactTerms> added = terms_of(c), product = dot.terms();
    if (added && product) out.terms = if_exact(model_, added->with(*product));
    for (Index k = 0; k < out.size(); ++k) {
      const double n = dot.terms(k), size = dot.size(k);
      double e = c.e.data()[k];
      NonFinite nonfinite = dot.nonfinite(k).joined(nonfinite_of(c, k));
      const double c_size = is_finite(c.v.data()[k]) ? size_of(c, k) : 0;
      if (n > 0) {
        e += propagated.data()[k] + model_.dot_gamma(n, 2) * (size + c_size) + dot.operands() * size +
             dot.underflow(k) + model_.carry_roundoff * size + (model_.carry_roundoff > 0 ? model_.carry_underflow : 0);
      } else if (c_size < model_.least_normal) {
        e += c_size;  // it may be flushed
      }
      nonfinite.open = nonfinite.open || size * model_.growth(n) > model_.carry_largest;
      store(out, k, e, nonfinite, (size + c_size) * model_.growth(n + 1));
    }
    return out;
  }

  Matrix column_sums(const Matrix& x) const {
    RowSum sum;
    sum.add(x);
    return total_of(sum);
  }

  // Rows that come one after the other, as in exact.h.
  using Dot = BoundedDot<V>;
  class RowSum {
   public:
    void add(const Matrix& x) {
      if (terms_.empty()) {
        value_ = Plane<V>::Zero(1, x.cols());
        terms_.resize(static_cast<std::size_t>(x.cols()));
      }
      value_ += x.v.colwise().sum();
      for (Index r = 0; r < x.rows(); ++r) {
        for (Index c = 0; c < x.cols(); ++c) terms_[static_cast<std::size_t>(c)].add(x, r * x.cols() + c);
      }
    }

   private:
    friend Bound;
    Plane<V> value_;
    std::vector<BoundedTerms<V>> terms_;
  };
  Dot new_dot() const { return Dot(model_); }
  RowSum new_row_sum() const { return {}; }
  Matrix total_of(Dot dot) const {
    Matrix out{dot.take_value(), dot.take_propagated()};
    out.terms = dot.terms();
    for (Index k = 0; k < out.size(); ++k) {
      const double n = dot.terms(k), size = dot.size(k);
      const double e =
          n == 0 ? 0 : out.e.data()[k] + (model_.dot_gamma(n, 1) + dot.operands()) * size + dot.underflow(k);
      store(out, k, e, dot.nonfinite(k), size * model_.growth(n));
    }
    return out;
  }
  Matrix total_of(const RowSum& sum) const {  // bounds.md 3.1 with as many terms as there are rows
    Matrix out{sum.value_, Plane<double>(1, sum.value_.cols())};
    for (Index c = 0; c < out.cols(); ++c) store(out, c, sum.terms_[static_cast<std::size_t>(c)]);
    return out;
  }

  // bounds.md 3.6
  Matrix sigmoid(const Matrix& x) const {
    Matrix out{exact_.sigmoid(x.v), x.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double s = magnitude(out.v.data()[k]), e = argument_error(x, k);
      const double slope = std::min(0.25, s * (1 - s) + 0.097 * e);
      const double own = std::max(model_.standard_sigmoid(s), model_.sigmoid_error.of(s));
      store(out, k, slope * e + own, nonfinite_of(x, k));
    }
    return out;
  }
  Matrix tanh(const Matrix& x) const {
    Matrix out{exact_.tanh(x.v), x.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double t = magnitude(out.v.data()[k]), e = argument_error(x, k);
      const double slope = std::min(1.0, 1 - t * t + 0.77 * e);
      const bool is_zero = t + e == 0;
      const double own = std::max(model_.standard_tanh(t), model_.tanh_error.of(t)) + model_.least_normal;
      store(out, k, slope * e + (is_zero ? 0 : own), nonfinite_of(x, k));
    }
    return out;
  }
  Matrix relu(const Matrix& x) const {
    Matrix out{exact_.relu(x.v), x.e};
    if (terms_of(x)) out.terms = terms_of_values(out.v);
    for (Index k = 0; k < out.size(); ++k) {
      NonFinite nonfinite = nonfinite_of(x, k);
      nonfinite = {false, nonfinite.open || nonfinite.nan};  // relu of a NaN may be 0 or a NaN: semantics.md
      const double v = static_cast<double>(x.v.data()[k]), e = x.e.data()[k];
      store(out, k, v > 0 ? e : std::max(0.0, v + e), nonfinite);
    }
    return out;
  }

  // bounds.md 3.5: one operation each, in any of its forms; exact at 0 and at saturation.
  Matrix sigmoid_slope(const Matrix& s) const {
    Matrix out{exact_.sigmoid_slope(s.v), s.e, s.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double v = magnitude(s.v.data()[k]), e = s.e.data()[k];
      const bool exactly = e == 0 && (v == 0 || s.v.data()[k] == V(1));
      NonFinite nonfinite = nonfinite_of(s, k);
      // where s(1-s) is infinite, s - s s is a NaN
      nonfinite.open = nonfinite.open || (is_infinite(s, k) && s.v.data()[k] > 0);
      out.reach.data()[k] = reach_of_sigmoid_slope(static_cast<double>(s.v.data()[k]), e);
      store(
          out, k,
          exactly ? 0 : std::abs(1 - 2 * v) * e + e * e + 2 * model_.unit_roundoff * (v + v * v) + model_.least_normal,
          nonfinite, is_finite(s.v.data()[k]) ? out.reach.data()[k] : 0);
    }
    return out;
  }
  Matrix tanh_slope(const Matrix& t) const {
    Matrix out{exact_.tanh_slope(t.v), t.e, t.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double v = magnitude(t.v.data()[k]), e = t.e.data()[k];
      const bool exactly = e == 0 && (v == 0 || v == 1);
      out.reach.data()[k] = reach_of_tanh_slope(v, e);
      store(out, k, exactly ? 0 : 2 * v * e + e * e + 3 * model_.unit_roundoff * (1 + v * v) + model_.least_normal,
            nonfinite_of(t, k), is_finite(t.v.data()[k]) ? out.reach.data()[k] : 0);
    }
    return out;
  }

  // bounds.md 3.7: one side is certain if p is on it for sure, and is not subnormal where an implementation may read it
  // again; the other side if p is certainly not across 0. An exact p has no error.
  Matrix where_positive(const Matrix& p, const Matrix& x) const {
    const bool zero_passes = model_.relu_passes(0);
    Matrix across = carried(relu(zero_passes ? negative(p) : p));
    if (carried(p).terms) across.e.setZero();
    Matrix out{exact_.where_positive(p.v, x.v, zero_passes), x.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double value = static_cast<double>(across.v.data()[k]), e = across.e.data()[k];
      const bool is_across = value > e && value - e >= model_.least_normal, is_not = !(value > 0 || e > 0);
      if (zero_passes ? is_not : is_across) continue;
      const NonFinite of_p = nonfinite_of(across, k), of_x = nonfinite_of(x, k);
      const NonFinite nonfinite{false, of_p.nan || of_p.open || of_x.nan || of_x.open || is_infinite(x, k)};
      store(out, k, is_across || is_not ? 0 : size_of(x, k), nonfinite);
    }
    return out;
  }

  // bounds.md 3.8: both as (1-z) n + z h and as n + z (h - n).
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
    Matrix out{exact_.blend(z.v, h.v, n.v), z.e};
    for (Index k = 0; k < out.size(); ++k) {
      const double ez = z.e.data()[k], eh = h.e.data()[k], en = n.e.data()[k];
      const double zs = magnitude(z.v.data()[k]) + ez, hs = magnitude(h.v.data()[k]) + eh;
      const double ns = magnitude(n.v.data()[k]) + en;
      const double rest = magnitude(V(1) - z.v.data()[k]);
      const double roundings = (rest + ez) * ns + zs * (hs + ns);
      const double error = magnitude(h.v.data()[k] - n.v.data()[k]) * ez + zs * eh + (rest + ez) * en + ez * (eh + en) +
                           model_.gamma(4) * roundings + 4 * model_.least_normal;
      NonFinite nonfinite = nonfinite_of(z, k).joined(nonfinite_of(h, k)).joined(nonfinite_of(n, k));
      // infinities give different results in the two forms; a NaN gives a NaN in both
      nonfinite.open = nonfinite.open || is_infinite(z, k) || is_infinite(h, k) || is_infinite(n, k);
      const double met = std::max({rest + ez, hs + ns, roundings}) * model_.growth(4);
      store(out, k, hs + ns == 0 ? 0 : error, nonfinite, nonfinite.nan || nonfinite.open ? 0 : met);
    }
    return out;
  }
  Matrix clip(const Matrix& x, double limit) const { return {exact_.clip(x.v, limit), x.e}; }

  Matrix carried(const Matrix& x) const {
    Matrix out{x.v, x.e};
    const std::optional<ExactTerms> terms = terms_of(x);
    if (terms && is_stored_exactly(*terms)) out.terms = terms_of_values(x.v);
    if (model_.carry_roundoff == 0) return out;
    for (Index k = 0; k < out.size(); ++k) {
      if (!is_finite(x.v.data()[k])) continue;
      const double size = size_of(x, k);
      if (size > 0) out.e.data()[k] += model_.carry_roundoff * size + model_.carry_underflow;
      if (size > model_.carry_largest) out.e.data()[k] = std::numeric_limits<double>::infinity();
    }
    return out;
  }
  Matrix saved(Matrix x) const { return model_.rounds_saved ? carried(x) : x; }
  bool rounds_saved() const { return model_.rounds_saved; }

 private:
  bool is_stored_exactly(const ExactTerms& terms) const {
    return terms.size * model_.carry_roundoff <= terms.grid && terms.grid >= model_.carry_underflow &&
           terms.size <= model_.carry_largest;
  }

  friend SumsAndProducts<Bound, Matrix>;
  friend PlaneArithmetic<Bound, Matrix, V>;

  static Matrix exactly(Plane<V> values) {
    Plane<double> errors = Plane<double>::Zero(values.rows(), values.cols());
    return {std::move(values), std::move(errors)};
  }
  template <class Move>
  static Matrix moved(const Matrix& x, Move move) {
    Matrix out{move(x.v), move(x.e)};
    out.terms = x.terms;
    return out;
  }
  template <Along along>
  static Matrix joined(const std::vector<const Matrix*>& parts) {
    Matrix out{join<along>(planes_of(parts, &Matrix::v)), join<along>(planes_of(parts, &Matrix::e))};
    std::optional<ExactTerms> terms = ExactTerms{};
    for (const Matrix* part : parts) {
      const std::optional<ExactTerms> of_part = terms ? terms_of(*part) : std::nullopt;
      terms = of_part ? std::optional(terms->beside(*of_part)) : std::nullopt;
    }
    out.terms = terms;
    return out;
  }

  // e: the error of an element, if it is finite. met: the largest finite number on the way to it. bounds.md 3.10, 3.11
  void store(Matrix& out, Index k, double e, const NonFinite& nonfinite, double met = 0) const {
    V& v = out.v.data()[k];
    const bool open = nonfinite.open || !(met <= model_.largest);
    if (nonfinite.nan || (open && !is_finite(v))) v = std::numeric_limits<V>::quiet_NaN();
    out.e.data()[k] = nonfinite.nan ? 0 : open ? std::numeric_limits<double>::infinity() : is_finite(v) ? e : 0;
  }

  // An infinite argument is infinite in every order of its sum, so it brings no error.
  static double argument_error(const Matrix& x, Index k) { return is_finite(x.v.data()[k]) ? x.e.data()[k] : 0; }

  void store(Matrix& out, Index k, const BoundedTerms<V>& terms) const {
    const double e = terms.count == 0
                         ? 0
                         : terms.error + model_.gamma(terms.count - 1) * terms.size + terms.count * model_.least_normal;
    store(out, k, e, terms.nonfinite, terms.size * model_.growth(terms.count));
  }

  // bounds.md 3.1: m terms in any order.
  Matrix sum_of(std::span<const Matrix* const> parts) const {
    Matrix out{parts.front()->v, parts.front()->e};
    for (const Matrix* part : parts.subspan(1)) out.v += part->v;
    std::optional<ExactTerms> exact = ExactTerms{};
    for (const Matrix* part : parts) {
      const std::optional<ExactTerms> of_part = exact ? terms_of(*part) : std::nullopt;
      exact = of_part ? std::optional(exact->with(*of_part)) : std::nullopt;
    }
    if (exact) out.terms = if_exact(model_, *exact);
    for (Index k = 0; k < out.size(); ++k) {
      BoundedTerms<V> terms;
      for (const Matrix* part : parts) terms.add(*part, k);
      store(out, k, terms);
    }
    return out;
  }

  // What the error of a product is made of. error, exact_size: of the product of the finite factors. met, least: the
  // largest and the least product of any subset of them, differences multiplied out.
  struct Factors {
    double error = 0, exact_size = 1, underflow, met = 1, least = 1;
    bool zero = false, infinite = false, difference = false, dropped = false;
    NonFinite nonfinite{};

    void add(const Matrix& x, Index k) {
      nonfinite = nonfinite.joined(nonfinite_of(x, k));
      const bool is_difference = x.reach.size() > 0;
      difference = difference || is_difference;
      infinite = infinite || is_infinite(x, k);
      if (!is_finite(x.v.data()[k])) return;
      const double v = magnitude(x.v.data()[k]), e = x.e.data()[k];
      zero = zero || v + e == 0;
      dropped = dropped || (x.choice && v == 0);
      error = error * (v + e) + exact_size * e;
      exact_size *= v;
      underflow *= std::max(1.0, v + e);
      met *= std::max(1.0, is_difference ? x.reach.data()[k] : v + e);
      least *= std::min(1.0, v - e);
    }
  };

  // bounds.md 3.2: m factors in any order.
  Matrix product_of(std::span<const Matrix* const> parts) const {
    Matrix out{parts.front()->v, parts.front()->e};
    for (const Matrix* part : parts.subspan(1)) out.v *= part->v;
    const double roundings = static_cast<double>(parts.size() - 1);
    for (Index k = 0; k < out.size(); ++k) {
      Factors factors{.underflow = roundings * model_.least_normal};
      for (const Matrix* part : parts) factors.add(*part, k);
      NonFinite nonfinite = factors.nonfinite;
      // A factor that is exactly 0 and an infinity give a NaN in every form.
      if (factors.infinite && !factors.zero) {
        nonfinite.open = nonfinite.open || factors.difference || !(factors.least > 2 * model_.least_normal);
      }
      // A factor that is multiplied out has three more roundings.
      const double met = factors.met * model_.growth(4 * roundings);
      if (factors.dropped && (factors.infinite || nonfinite.nan)) nonfinite = {false, true};
      const double e = factors.error + model_.gamma(roundings) * (factors.exact_size + factors.error);
      store(out, k, factors.zero ? 0 : e + factors.underflow, nonfinite, met);
    }
    return out;
  }

  RoundingModel model_;
  static inline const Exact<V> exact_{};
};
static_assert(Arithmetic<Bound<double>>);

}  // namespace backgauge
