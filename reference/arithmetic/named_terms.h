// SPDX-License-Identifier: Apache-2.0
// An arithmetic that records the terms of the sums in the equations. Values and bounds are those of arithmetic/bound.h,
// and every matrix has a name derived from its operands (significance.h). For every term of every sum, including those
// in matrix products and in sums over rows, it keeps the largest |term| / E under the term's name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/arithmetic/bound.h"
#include "reference/contract/call.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {

// A part of a matrix that was concatenated from several.
struct RecordedPart {
  std::string name;
  Index count;
};

struct Recorded {
  Bounded<double> b;
  std::string name;
  std::vector<RecordedPart> beside{}, below{};  // empty: a single matrix
  bool transposed = false;                      // `beside` are steps, whose rows were stacked before the transposition

  Index rows() const { return b.rows(); }
  Index cols() const { return b.cols(); }
  Index size() const { return b.size(); }
};

class Recording {
 public:
  using Matrix = Recorded;

  // Keeps both references; every operation adds to `largest`.
  Recording(const RoundingModel& model, const Problem& problem, std::map<std::string, double>& largest);

  Matrix input(const double* values, Index rows, Index cols) const;
  Matrix recomputable(const double* values, Index rows, Index cols) const { return input(values, rows, cols); }
  Matrix zeros(Index rows, Index cols) const { return {bound_.zeros(rows, cols), "0"}; }
  Matrix ones(Index rows, Index cols) const { return {bound_.ones(rows, cols), "1"}; }
  Matrix dropout_mask(const std::uint8_t* keep, double dropout, Index rows, Index cols) const {
    return {bound_.dropout_mask(keep, dropout, rows, cols), "mask"};
  }

  template <class... M>
  Matrix sum(const Matrix& first, const M&... rest) const {
    return sum_of({&first, &rest...});
  }
  Matrix sum(const std::vector<Matrix>& terms) const;
  template <class... M>
  Matrix product(const Matrix& first, const M&... rest) const {
    return {bound_.product(first.b, rest.b...), product_name({&first, &rest...}), first.beside, first.below};
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
  Matrix where_positive(const Matrix& h, const Matrix& x) const { return {bound_.where_positive(h.b, x.b), "da"}; }
  Matrix blend(const Matrix& z, const Matrix& h, const Matrix& n) const;
  Matrix clip(const Matrix& x, double limit) const { return {bound_.clip(x.b, limit), x.name}; }
  Matrix carried(const Matrix& x) const { return {bound_.carried(x.b), x.name, x.beside, x.below}; }

  Matrix transpose(const Matrix& x) const { return {bound_.transpose(x.b), x.name, x.below, x.beside, true}; }
  Matrix rows(const Matrix& x, Index begin, Index count) const;
  Matrix columns(const Matrix& x, Index begin, Index count) const;
  Matrix repeat_row(const Matrix& row, Index count) const { return {bound_.repeat_row(row.b, count), row.name}; }
  Matrix beside(const std::vector<const Matrix*>& parts) const;
  Matrix below(const std::vector<const Matrix*>& parts) const;

 private:
  static std::string product_name(const std::vector<const Matrix*>& factors);
  static std::vector<const Bounded<double>*> bounds_of(const std::vector<const Matrix*>& parts);

  void record(const std::string& name, const Plane<double>& term, const Bounded<double>& sum) const;
  void record_blocks(const Matrix& x, const Matrix& y, const Bounded<double>& sum) const;
  Matrix sum_of(const std::vector<const Matrix*>& terms) const;
  std::string gate_name(Index gate) const;

  const Bound<double> bound_;
  const Problem& problem_;
  const RnnParams params_;
  std::map<std::string, double>& largest_;
};

}  // namespace backgauge
