// SPDX-License-Identifier: Apache-2.0
// Values that are there for a reason of their own: in elements that are never read, and the one non-finite element of
// kNan and kInf.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "properties/case/regime.h"

namespace backgauge {

// On output the elements beyond the rows that the table of the op reads hold regime.poison. Where that takes cell
// states away that a saved co belongs to, facts.consistent_saved becomes false.
void poison_unread(const Case& c, const Regime& regime, Problem& problem, DataFacts& facts);

// A tensor of which elements are read: the first `readable` ones.
struct ReadableTensor {
  std::string_view name;
  std::int64_t readable;
};
std::vector<ReadableTensor> readable_tensors(const Case& c);

// Which element of them a case with this seed makes NaN or Inf.
struct NonfinitePlace {
  std::string_view tensor;
  std::int64_t index, readable;
};
NonfinitePlace nonfinite_place(std::uint64_t seed, const std::vector<ReadableTensor>& tensors);

// On output that element is NaN, or Inf of either sign; none if nothing is read.
void plant_nonfinite(const Case& c, Problem& problem, DataFacts& facts);

}  // namespace backgauge
