// SPDX-License-Identifier: Apache-2.0
// Rows: example b of step t is row t * B + b. Which rows are computed, and the sums over rows that the gradients of
// weights, biases and peepholes are: their partial sums, and the faults that lose or repeat rows.
#pragma once

#include "properties/saboteurs/ops.h"
#include "properties/saboteurs/state.h"
#include "properties/saboteurs/work.h"

namespace backgauge::saboteurs {

// How many examples of a batch of B are computed: all, unless the variant has fault I8.
inline std::int64_t examples_computed(const Context& context, std::int64_t B) {
  if (context.variant.fault != Fault::kI8) return B;
  const auto threads = static_cast<double>(context.call.num_threads);
  const std::vector<double> before = kept<double>(context, 1);
  keep<double>(context, {threads});
  if (before.empty()) return B;
  const std::int64_t share = (B + static_cast<std::int64_t>(before[0]) - 1) / static_cast<std::int64_t>(before[0]);
  return std::min(B, share * context.call.num_threads);
}

enum class Sum { kWeights, kBiases, kPeepholes };

template <class Real>
class RowSums {
 public:
  using Index = std::int64_t;

  RowSums(const Context& context, const Work<Real>& work, Sum sum, Index steps, Index B)
      : context_(context), work_(work), sum_(sum), steps_(steps), B_(B) {
    const Style& style = work.style();
    const Index shares = std::max(1, style.threads);
    const Index block = style.merged_weight_sums ? steps : std::max(1, style.time_block);
    for (Index share = 0; share < shares; ++share) {
      for (Index end = steps; end > 0; end -= block) {
        for (Index t = std::max<Index>(0, end - block); t < end; ++t) {
          for (Index b = B * share / shares; b < B * (share + 1) / shares; ++b) {
            if (!lost(t, b)) rows_.push_back(t * B + b);
          }
        }
        parts_.push_back(static_cast<Index>(rows_.size()));
      }
    }
    if (work.is(Fault::kI15) && !rows_.empty()) {
      const Index first = calls_before(context) % static_cast<Index>(rows_.size());
      std::rotate(rows_.begin(), rows_.begin() + first, rows_.end());
    }
  }

  // Sum of a(row) * b(row), an element of a matrix product.
  template <class A, class B>
  Real products(Site site, A a, B b) const {
    return over_parts(site, [&](Index from, Index count) {
      return work_.dot(
          Site::kNone, count, [&](Index k) { return a(rows_[from + k]); }, [&](Index k) { return b(rows_[from + k]); });
    });
  }

  // Sum of a(row).
  template <class A>
  Real total(Site site, A a) const {
    return over_parts(site, [&](Index from, Index count) {
      return work_.total(Site::kNone, count, [&](Index k) { return a(rows_[from + k]); });
    });
  }

  // The row at which the state of a row is read.
  Index state_row(Index row) const { return work_.is(Fault::kD11) && row % B_ > 0 ? row - 1 : row; }

 private:
  bool lost(Index t, Index b) const {
    const Index threads = context_.call.num_threads;
    switch (work_.fault()) {
      case Fault::kD1: return sum_ == Sum::kWeights && t == steps_ - 1;
      case Fault::kD10: return B_ >= 3 && B_ % 2 == 1 && b == B_ - 1;
      case Fault::kD14: return b > 0;
      case Fault::kH18: return sum_ == Sum::kBiases && t * B_ + b >= 0x10000;
      case Fault::kI9: return threads > 1 && b >= B_ * (threads - 1) / threads;
      default: return false;
    }
  }

  template <class Part>
  Real over_parts(Site site, Part part) const {
    const auto terms = work_.terms(site, static_cast<Index>(rows_.size()));
    Real sum = 0;
    Index begin = 0;
    for (const Index end : parts_) {
      const Index from = std::max(begin, terms.begin), to = std::min(end, terms.end);
      begin = end;
      if (from >= to) continue;
      if (work_.is(Fault::kD4) && sum_ == Sum::kWeights) sum *= 2;
      if (work_.is(Fault::kD8) && sum_ == Sum::kBiases) sum = 0;
      sum = work_.added(sum, part(from, to - from));
    }
    if (work_.is(Fault::kD15) && B_ > 0) sum /= static_cast<Real>(B_);
    if (work_.is(Fault::kJ6) && sum_ == Sum::kWeights) sum *= Real(1 + 1e-5);
    return work_.sign(site) * sum;
  }

  const Context& context_;
  const Work<Real>& work_;
  const Sum sum_;
  const Index steps_, B_;
  std::vector<Index> rows_;
  std::vector<Index> parts_;  // the end of each partial sum in rows_
};

}  // namespace backgauge::saboteurs
