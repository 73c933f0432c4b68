// SPDX-License-Identifier: Apache-2.0
// What is done to the runs of a Noisy without a rounding: they are moved about with their matrix, put together with
// those of others, and walked through.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "reference/arithmetic/noisy.h"

namespace backgauge {

class NoisyRuns {
 public:
  using Matrix = Noisy;

  Index runs() const { return runs_; }

  Matrix transpose(const Matrix& x) const {
    return moved(x, x.v.transpose(), [](const auto& from) { return from.transpose(); });
  }
  Matrix rows(const Matrix& x, Index begin, Index count) const {
    return moved(x, x.v.middleRows(begin, count), [=](const auto& from) { return from.middleRows(begin, count); });
  }
  Matrix columns(const Matrix& x, Index begin, Index count) const {
    if (x.is_exact()) return Plane<double>(x.v.middleCols(begin, count));
    return {x.v.middleCols(begin, count), x.off.middleCols(begin, count), x.unit};
  }
  Matrix repeat_row(const Matrix& row, Index count) const {
    return moved(row, row.v.replicate(count, 1), [=](const auto& from) { return from.replicate(count, 1); });
  }
  Matrix beside(const std::vector<const Matrix*>& parts) const {
    Matrix out = stack_columns(planes_of(parts, &Matrix::v), parts.front()->rows());
    if (!unite(out, parts)) return out;
    Index at = 0;
    for (const Matrix* part : parts) {
      if (!part->is_exact()) out.off.middleCols(at, part->cols()) = part->off * scale(*part, out);
      at += part->cols();
    }
    return out;
  }
  Matrix below(const std::vector<const Matrix*>& parts) const {
    Matrix out = stack_rows(planes_of(parts, &Matrix::v), parts.front()->cols());
    if (!unite(out, parts)) return out;
    for (Index r = 0; r < runs(); ++r) {
      Index at = r * out.rows();
      for (const Matrix* part : parts) {
        if (!part->is_exact()) out.off.middleRows(at, part->rows()) = block(*part, r) * scale(*part, out);
        at += part->rows();
      }
    }
    return out;
  }

 protected:
  explicit NoisyRuns(Index runs) : runs_(runs) {}

  using Block = Eigen::Map<const Plane<float>>;

  static Block block(const Matrix& x, Index r) { return Block(x.off_run(r), x.rows(), x.cols()); }
  static float scale(const Matrix& from, const Matrix& to) { return static_cast<float>(from.unit / to.unit); }

  // Gives `out` what the runs of `like` are off by, in another unit; 0: any.
  void spread(Matrix& out, const Matrix& like, double unit) const {
    out.unit = unit > 0 ? unit : 1;
    if (like.is_exact()) {
      out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    } else {
      out.off = like.off * scale(like, out);
    }
  }
  // Room for what the runs of `out` are off by, being put together of `parts`; false where none of them is off.
  bool unite(Matrix& out, const std::vector<const Matrix*>& parts) const {
    for (const Matrix* part : parts) out.unit = std::max(out.unit, part->unit);
    if (std::all_of(parts.begin(), parts.end(), [](const Matrix* part) { return part->is_exact(); })) return false;
    out.off = Plane<float>::Zero(runs() * out.rows(), out.cols());
    return true;
  }
  template <class Move>
  Matrix moved(const Matrix& x, Plane<double> v, Move move) const {
    Matrix out = std::move(v);
    if (x.is_exact()) return out;
    out.unit = x.unit;
    out.off.resize(runs() * out.rows(), out.cols());
    for (Index r = 0; r < runs(); ++r) out.off.middleRows(r * out.rows(), out.rows()) = move(block(x, r));
    return out;
  }
  // change(off, k, r) for element k of run r, where runs are off at all.
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
