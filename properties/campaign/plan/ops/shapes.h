// SPDX-License-Identifier: Apache-2.0
// Cases that differ in their sizes, each with values of its own.
#pragma once

#include <utility>
#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge::plan_ops {

class Shapes {
 public:
  Shapes(const Case& base, Draws& draws) : base_(base), draws_(draws) {}

  // T and seq_len_max S only if the op has them.
  void add(std::int64_t T, std::int64_t B, std::int64_t I, std::int64_t H, std::int64_t S) {
    Case c = base_;
    set_steps(c, T, S);
    c.B = B, c.I = I, c.H = H;
    c.seed = draws_.seed();
    out_.push_back(std::move(c));
  }
  // The other settings of the cases added from now on.
  Case& base() { return base_; }
  std::vector<Case> take() { return std::move(out_); }

 private:
  Case base_;
  Draws& draws_;
  std::vector<Case> out_;
};

inline void add_no_shape(Shapes&) {}

}  // namespace backgauge::plan_ops
