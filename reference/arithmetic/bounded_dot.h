// SPDX-License-Identifier: Apache-2.0
// Products of matrices of values with error bounds, whose rows may be added piece by piece: the parts of the error of
// every element, and which elements are not finite. bounds.md 3.3, 3.10
#pragma once

#include <utility>
#include <vector>

#include "reference/arithmetic/dot_operand.h"

namespace backgauge {

template <class V>
class BoundedDot {
 public:
  explicit BoundedDot(const RoundingModel& model) : model_(model) {}

  void add(const Bounded<V>& x, const Bounded<V>& y) {
    rows_ = x.rows();
    columns_ = y.cols();
    const DotOperand left(model_, x, Side::kLeft);
    const DotOperand& right = y.operand.get([&] { return DotOperand(model_, y, Side::kRight); });
    add_product(value_, x.v, y.v);
    if (!right.exact) add_product(propagated_, left.values(), y.e);
    if (!left.exact) add_product(propagated_, x.e, right.sizes);
    add_product(sizes_, left.sizes, right.sizes);
    if (left.full && right.full) {
      all_terms_ += static_cast<double>(x.cols());
    } else {
      add_product(some_terms_, there(left), there(right));
    }
    if (model_.operand_underflow > 0) {
      add_product(narrow_, left.sizes, there(right));
      add_product(narrow_, there(left), right.sizes);
    }
    add_exact(left, right);
    widen(row_largest_, left.largest);
    widen(column_largest_, right.largest);
    if (!left.lines.empty() || !right.lines.empty()) add_infinities(x, left, y, right);
    join(row_lines_, left.lines);
    join(column_lines_, right.lines);
  }

  Plane<V> take_value() { return std::move(value_); }
  // errors that follow from those of the operands
  Plane<double> take_propagated() {
    if (propagated_.size() == 0) propagated_ = Plane<double>::Zero(rows_, columns_);
    return std::move(propagated_);
  }
  // The functions below describe element k.
  // Sum of |term| over the finite terms, errors included.
  double size(Index k) const { return sizes_.data()[k]; }
  // Number of finite terms that are not exactly zero.
  double terms(Index k) const { return all_terms_ + (some_terms_.size() > 0 ? some_terms_.data()[k] : 0); }
  double underflow(Index k) const {
    const double n = terms(k), eta = model_.operand_underflow;
    double out = 2 * model_.parts.products * n * model_.least_normal *
                 (1 + row_largest_.data()[k / columns_] + column_largest_.data()[k % columns_]);
    if (eta > 0) out += eta * narrow_.data()[k] + eta * eta * n;
    return out;
  }
  NonFinite nonfinite(Index k) const {
    NonFinite out{false, !infinities_.empty() && infinities_[static_cast<std::size_t>(k)]};
    if (!row_lines_.empty()) out = out.joined(row_lines_[static_cast<std::size_t>(k / columns_)].nonfinite);
    if (!column_lines_.empty()) out = out.joined(column_lines_[static_cast<std::size_t>(k % columns_)].nonfinite);
    return out;
  }
  // If all elements are exact in every order.
  std::optional<ExactTerms> terms() const {
    if (!terms_) return std::nullopt;
    return if_exact(model_, {terms_->grid, sizes_.size() == 0 ? 0 : sizes_.maxCoeff()});
  }
  // Relative error that narrower operands add.
  double operands() const {
    const double u = model_.operand_roundoff;
    return 2 * u + u * u + model_.parts.left_out;
  }

 private:
  void add_exact(const DotOperand& left, const DotOperand& right) {
    // Operands that are rounded or split may lose bits.
    const bool known = left.terms && right.terms && model_.operand_roundoff == 0 && model_.parts.roundoff == 0;
    if (terms_ && known) terms_->grid = std::min(terms_->grid, left.terms->grid * right.terms->grid);
    if (!known) terms_.reset();
  }
  static Plane<double> there(const DotOperand& operand) { return (operand.sizes != 0).template cast<double>(); }
  static void widen(Plane<double>& largest, const Plane<double>& other) {
    if (other.size() == 0) return;
    largest = largest.size() == 0 ? other : Plane<double>(largest.max(other));
  }
  static void join(std::vector<DotLine>& lines, const std::vector<DotLine>& others) {
    if (lines.empty()) lines.resize(others.size());
    for (std::size_t k = 0; k < others.size(); ++k) lines[k].nonfinite = lines[k].nonfinite.joined(others[k].nonfinite);
  }
  // Finds the elements in which an infinity is multiplied by a number that may be 0 or of either sign.
  void add_infinities(const Bounded<V>& x, const DotOperand& left, const Bounded<V>& y, const DotOperand& right) {
    infinities_.resize(static_cast<std::size_t>(value_.size()));
    for (Index row = 0; row < x.rows(); ++row) {
      for (Index column = 0; column < y.cols(); ++column) {
        const bool in_row = !left.lines.empty() && left.lines[static_cast<std::size_t>(row)].infinite;
        const bool in_column = !right.lines.empty() && right.lines[static_cast<std::size_t>(column)].infinite;
        if (!in_row && !in_column) continue;
        for (Index n = 0; n < x.cols(); ++n) {
          const Index k = row * x.cols() + n, m = n * y.cols() + column;
          if (!is_infinite(x, k) && !is_infinite(y, m)) continue;
          if (may_vanish(model_, x, k) || may_vanish(model_, y, m)) {
            infinities_[static_cast<std::size_t>(row * y.cols() + column)] = true;
          }
        }
      }
    }
  }

  const RoundingModel& model_;
  Plane<V> value_;
  Plane<double> propagated_, some_terms_, narrow_;  // empty: 0
  Plane<double> sizes_;
  double all_terms_ = 0;  // of every element
  Index rows_ = 0, columns_ = 0;
  Plane<double> row_largest_, column_largest_;
  std::vector<DotLine> row_lines_, column_lines_;   // empty: all is finite
  std::vector<bool> infinities_;                    // elements that may be anything for that reason; empty: none
  std::optional<ExactTerms> terms_ = ExactTerms{};  // the grid alone; nullopt: not exact
};

}  // namespace backgauge
