// SPDX-License-Identifier: Apache-2.0
// An arithmetic in which the terms of all sums of the equations have names. Values and bounds are those of bound.h, and
// every matrix has a name derived from its operands: "di wci" is the product of di and wci. dx contains the slope of x
// as a factor: "dco" is (1 - co^2) h_grad o, and "dcs f" the product of dcs and f. "x.." is a concatenation whose first
// part is x. Parts of params are named after their block (W, R, bW, bR), parts of a row of gates after the gate. Terms
// of sums over the rows of a sequence are the first step, the last step and those between: "last step: x.. di..".
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "reference/arithmetic/bound.h"
#include "reference/contract/call.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {

// A part of a matrix that was concatenated from several.
struct NamedPart {
  std::string name;
  Index count;
};

struct Named {
  Bounded<double> b;
  std::string name;
  std::vector<NamedPart> beside{}, below{};  // empty: a single matrix
  bool transposed = false;                   // `beside` are steps, whose rows were stacked before the transposition

  Index rows() const { return b.rows(); }
  Index cols() const { return b.cols(); }
  Index size() const { return b.size(); }
};

class NamedTerms : public SumsAndProducts<NamedTerms, Named> {
 public:
  using Matrix = Named;

  struct Term {
    std::string name;
    Plane<double> values;  // of the shape of the sum
  };
  // Called for every sum, products of matrices and sums over rows included, after it has been computed. It may change
  // the values of the sum, and thereby what is computed from it.
  using OnSum = std::function<void(std::span<const Term> terms, Bounded<double>& sum)>;

  // The problem must outlive it.
  NamedTerms(const RoundingModel& model, const Problem& problem, OnSum on_sum);

  Matrix input(const double* values, Index rows, Index cols) const;
  Matrix recomputable(const double* values, Index rows, Index cols) const { return input(values, rows, cols); }
  Matrix zeros(Index rows, Index cols) const { return {bound_.zeros(rows, cols), "0"}; }
  Matrix ones(Index rows, Index cols) const { return {bound_.ones(rows, cols), "1"}; }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    return {bound_.dropout_mask(keep, dropout, rows, cols), "mask"};
  }

  Matrix negative(const Matrix& x) const { return {bound_.negative(x.b), "-" + x.name, x.beside, x.below}; }
  Matrix difference(const Matrix& x, const Matrix& y) const;
  Matrix matmul(const Matrix& x, const Matrix& y) const;
  Matrix add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const;
  Matrix column_sums(const Matrix& x) const;

  Matrix sigmoid(const Matrix& x) const { return {bound_.sigmoid(x.b), x.name, x.beside, x.below}; }
  Matrix tanh(const Matrix& x) const;
  Matrix relu(const Matrix& x) const { return {bound_.relu(x.b), "h"}; }
  Matrix sigmoid_slope(const Matrix& s) const { return {bound_.sigmoid_slope(s.b), s.name + "'"}; }
  Matrix tanh_slope(const Matrix& t) const { return {bound_.tanh_slope(t.b), t.name + "'"}; }
  Matrix where_positive(const Matrix& p, const Matrix& x) const { return {bound_.where_positive(p.b, x.b), "da"}; }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const;
  Matrix clip(const Matrix& x, double limit) const { return {bound_.clip(x.b, limit), x.name}; }
  Matrix carried(const Matrix& x) const { return {bound_.carried(x.b), x.name, x.beside, x.below}; }
  Matrix saved(Matrix x) const { return {bound_.saved(std::move(x.b)), x.name, x.beside, x.below}; }
  bool rounds_saved() const { return bound_.rounds_saved(); }

  Matrix transpose(const Matrix& x) const { return {bound_.transpose(x.b), x.name, x.below, x.beside, true}; }
  Matrix rows(const Matrix& x, Index begin, Index count) const;
  Matrix columns(const Matrix& x, Index begin, Index count) const;
  Matrix repeat_row(const Matrix& row, Index count) const { return {bound_.repeat_row(row.b, count), row.name}; }
  Matrix beside(const std::vector<const Matrix*>& parts) const;
  Matrix below(const std::vector<const Matrix*>& parts) const;

 private:
  friend SumsAndProducts<NamedTerms, Named>;

  Matrix sum_of(std::span<const Matrix* const> terms) const;
  Matrix product_of(std::span<const Matrix* const> factors) const;

  void report(std::vector<Term> terms, Bounded<double>& sum) const;
  std::string gate_name(Index gate) const;

  const Bound<double> bound_;
  const Problem& problem_;
  const RnnParams params_;  // says something of the tensor params alone
  const OnSum on_sum_;
};
static_assert(Arithmetic<NamedTerms>);

}  // namespace backgauge
