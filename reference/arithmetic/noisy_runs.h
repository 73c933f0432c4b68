// SPDX-License-Identifier: Apache-2.0
// Operations on the runs of a Noisy that round nothing: rearranging and joining matrices with their runs, and visiting
// all elements.
#pragma once

#include <algorithm>
#include <vector>

#include "reference/arithmetic/noisy.h"

namespace backgauge {

class NoisyRuns {
 public:
  using Matrix = Noisy;

  Index runs() const { return runs_; }

 protected:
  explicit NoisyRuns(Index runs) : runs_(runs) {}

  using Block = Eigen::Map<const Plane<float>>;

  static Block block(const Matrix& x, Index r) { return Block(x.off_run(r), x.rows(), x.cols()); }
  static float scale(const Matrix& from, const Matrix& to) { return static_cast<float>(from.unit / to.unit); }

  // Copies the differences of the runs of `like` to `out`, in another unit; 0: any unit.
  void spread(Matrix& out, const Matrix& like, double unit) const {
    out.unit = unit > 0 ? unit : 1;
    if (like.is_exact()) {
      out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    } else {
      out.off = like.off * scale(like, out);
    }
  }
  // Allocates the differences of `out`, which is joined from `parts`; false if all of these are exact.
  bool unite(Matrix& out, const std::vector<const Matrix*>& parts) const {
    for (const Matrix* part : parts) out.unit = std::max(out.unit, part->unit);
    if (std::all_of(parts.begin(), parts.end(), [](const Matrix* part) { return part->is_exact(); })) return false;
    out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    return true;
  }
  template <class Move>
  Matrix moved(const Matrix& x, Move move) const {
    Matrix out = Plane<double>(move(x.v()));
    if (x.is_exact()) return out;
    out.unit = x.unit;
    out.off.resize(runs() * out.rows(), out.cols());
    for (Index r = 0; r < runs(); ++r) out.off.middleRows(r * out.rows(), out.rows()) = move(block(x, r));
    return out;
  }
  template <Along along>
  Matrix joined(const std::vector<const Matrix*>& parts) const {
    Matrix out = joined_undisturbed<along>(parts);
    if (!unite(out, parts)) return out;
    for (Index r = 0; r < runs(); ++r) {
      Eigen::Map<Plane<float>> run(out.off.data() + r * out.size(), out.rows(), out.cols());
      Index begin = 0;
      for (const Matrix* part : parts) {
        const Index length = length_of<along>(*part);
        if (!part->is_exact()) slice_of<along>(run, begin, length) = block(*part, r) * scale(*part, out);
        begin += length;
      }
    }
    return out;
  }
  // Without undisturbed values where a part has none.
  template <Along along>
  static Matrix joined_undisturbed(const std::vector<const Matrix*>& parts) {
    std::vector<const Plane<double>*> planes;
    Index length = 0;
    for (const Matrix* part : parts) {
      length += length_of<along>(*part);
      if (part->has_v()) planes.push_back(&part->v());
    }
    if (planes.size() == parts.size()) return Matrix(join<along>(planes));
    return along == Along::kRows ? Matrix(length, parts.front()->cols()) : Matrix(parts.front()->rows(), length);
  }
  // change(off, k, r) for element k of run r; not called if the matrix is exact.
  template <class Change>
  void for_each(Matrix& out, Change change) const {
    if (out.is_exact()) return;
    for (Index r = 0; r < runs(); ++r) {
      float* const run = out.off.data() + r * out.size();
      for (Index k = 0; k < out.size(); ++k) change(run[k], k, r);
    }
  }

 private:
  Index runs_;
};

}  // namespace backgauge
