// SPDX-License-Identifier: Apache-2.0
// Sums over the steps of a sequence: what the gradients of weights and biases are. An arithmetic that would rather add
// step by step has classes of its own, `ProductOverSteps` and `SumOverSteps`; for all others those here keep the steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "reference/arithmetic/exact.h"

namespace backgauge {

// Of a product x^T y of all rows, [m, n], the parts that are computed one by one, so that what an arithmetic needs
// beside its operands is for few columns only. 512: enough to multiply fast, a few MiB for the rows of a long sequence.
struct ProductPart {
  Index row, rows, column, columns;

  static std::vector<ProductPart> all(Index m, Index n) {
    constexpr Index kMost = 512;
    std::vector<ProductPart> out;
    for (Index row = 0; row < m || row == 0; row += kMost) {
      for (Index column = 0; column < n || column == 0; column += kMost) {
        out.push_back({row, std::min(kMost, m - row), column, std::min(kMost, n - column)});
      }
    }
    return out;
  }
};

template <class A>
class GatheredSteps {
 public:
  using M = typename A::Matrix;
  using Kept = std::shared_ptr<const M>;

  GatheredSteps(const A& arithmetic, std::size_t steps) : a_(arithmetic), steps_(steps) {}

  void add(std::size_t step, Kept rows) { steps_[step] = std::move(rows); }
  // `count` columns of all rows, step after step.
  M columns(Index begin, Index count) const {
    std::vector<M> some;
    for (const Kept& step : steps_) some.push_back(a_.columns(*step, begin, count));
    return below(some);
  }
  M all() const {
    std::vector<const M*> parts;
    for (const Kept& step : steps_) parts.push_back(step.get());
    return a_.below(parts);
  }
  const M& front() const { return *steps_.front(); }

 private:
  M below(const std::vector<M>& matrices) const {
    std::vector<const M*> parts;
    for (const M& matrix : matrices) parts.push_back(&matrix);
    return a_.below(parts);
  }

  const A& a_;
  std::vector<Kept> steps_;
};

// The sum over all steps of x^T y, x [B, m], y [B, n].
template <class A>
class GatheredProduct {
 public:
  using M = typename A::Matrix;
  using Kept = std::shared_ptr<const M>;

  // steps >= 1, each of them to be added once, in any order.
  GatheredProduct(const A& arithmetic, std::size_t steps) : a_(arithmetic), x_(a_, steps), y_(a_, steps) {}

  void add(std::size_t step, Kept x, Kept y) {
    x_.add(step, std::move(x));
    y_.add(step, std::move(y));
  }
  M total() const {
    const auto parts = ProductPart::all(x_.front().cols(), y_.front().cols());
    if (parts.size() == 1) return a_.matmul(a_.transpose(x_.all()), y_.all());
    std::vector<M> rows, row;
    for (const auto& part : parts) {
      row.push_back(a_.matmul(a_.transpose(x_.columns(part.row, part.rows)), y_.columns(part.column, part.columns)));
      if (part.column + part.columns < y_.front().cols()) continue;
      rows.push_back(a_.beside(pointers(row)));
      row.clear();
    }
    return a_.below(pointers(rows));
  }

 private:
  static std::vector<const M*> pointers(const std::vector<M>& matrices) {
    std::vector<const M*> out;
    for (const M& matrix : matrices) out.push_back(&matrix);
    return out;
  }

  const A& a_;
  GatheredSteps<A> x_, y_;
};

// The sum over all rows of all steps, [1, n].
template <class A>
class GatheredSum {
 public:
  using M = typename A::Matrix;

  GatheredSum(const A& arithmetic, std::size_t steps) : a_(arithmetic), steps_(a_, steps) {}

  void add(std::size_t step, std::shared_ptr<const M> x) { steps_.add(step, std::move(x)); }
  M total() const { return a_.column_sums(steps_.all()); }

 private:
  const A& a_;
  GatheredSteps<A> steps_;
};

template <class A>
struct OverSteps {
  using Product = GatheredProduct<A>;
  using Sum = GatheredSum<A>;
};
template <class A>
requires requires { typename A::ProductOverSteps; }
struct OverSteps<A> {
  using Product = typename A::ProductOverSteps;
  using Sum = typename A::SumOverSteps;
};
template <class A>
using ProductOverSteps = typename OverSteps<A>::Product;
template <class A>
using SumOverSteps = typename OverSteps<A>::Sum;

// An output: nothing is computed from it any more, so an arithmetic may forget how it came about.
template <class A, class M = typename A::Matrix>
M output(const A& a, M matrix) {
  if constexpr (requires { a.output(matrix); }) {
    return a.output(std::move(matrix));
  } else {
    return matrix;
  }
}

}  // namespace backgauge
