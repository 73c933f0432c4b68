// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/containment.h"

#include <algorithm>
#include <utility>

#include "properties/campaign/plan/ops/entry.h"
#include "properties/case/draw/poison.h"

namespace backgauge {
namespace {

enum class Position { kFirst, kLast, kBetween };

bool is_at(const NonfinitePlace& place, Position position) {
  switch (position) {
    case Position::kFirst: return place.index == 0;
    case Position::kLast: return place.index == place.readable - 1;
    case Position::kBetween: return place.index > 0 && place.index < place.readable - 1;
  }
  return false;
}

// Small, so that few seeds need to be tried, but with more rows and units than the one element spoils: the others are
// the evidence that it was contained.
std::vector<Case> shapes(backgauge_op op, backgauge_dtype dtype) {
  Case base{.op = op, .B = 3, .I = 3, .H = 5, .dtype = dtype};
  set_steps(base, 2, 2);
  if (spec_of(op).has(Role::kLength)) base.T = 3;  // the last step is not read
  std::vector<Case> out;
  for (const Case& variant : plan_ops::variants_of(base)) {
    if (variant.rnn_mode == BACKGAUGE_RNN_RELU) continue;  // semantics.md 8: its result for NaN is not defined
    out.push_back(variant);
    Case backwards = variant;
    plan_ops::entry_of(op).take_direction(backwards, 1);
    if (backwards != variant) out.push_back(std::move(backwards));
  }
  return out;
}

}  // namespace

std::vector<Case> containment_cases(backgauge_op op, backgauge_dtype dtype, Draws& draws) {
  std::vector<Case> out;
  for (const Case& shape : shapes(op, dtype)) {
    const std::vector<ReadableTensor> tensors = readable_tensors(shape);
    for (const DataProfile data : {DataProfile::kNan, DataProfile::kInf}) {
      for (const ReadableTensor& tensor : tensors) {
        for (const Position position : {Position::kFirst, Position::kLast, Position::kBetween}) {
          if (tensor.readable < (position == Position::kBetween ? 3 : position == Position::kLast ? 2 : 1)) continue;
          Case c = shape;
          c.data = data;
          const auto fits = [&] {
            const NonfinitePlace place = nonfinite_place(c.seed, tensors);
            return place.tensor == tensor.name && is_at(place, position);
          };
          do c.seed = draws.seed();
          while (!fits());
          out.push_back(std::move(c));
        }
      }
    }
  }
  return out;
}

}  // namespace backgauge
