// SPDX-License-Identifier: Apache-2.0
// Special values: the poison in elements that must never be read (see poison_unread), and the one non-finite element of
// kNan and kInf.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "properties/case/draw/draw_rules.h"
#include "properties/case/line/filled.h"

namespace backgauge {

// Writes rules.poison to the elements beyond the rows that the op reads. If that overwrites cell states to which a
// saved co belongs, facts.consistent_saved becomes false.
void poison_unread(const Case& c, const DrawRules& rules, Problem& problem, DataFacts& facts);

// A tensor whose first `readable` elements are read.
struct ReadableTensor {
  std::string_view name;
  std::int64_t readable;
};
std::vector<ReadableTensor> readable_tensors(const Case& c);

// The element of these tensors that a case with this seed makes NaN or Inf.
struct NonfinitePlace {
  std::string_view tensor;
  std::int64_t index, readable;
};
NonfinitePlace nonfinite_place(std::uint64_t seed, const std::vector<ReadableTensor>& tensors);

// Makes that element NaN, or Inf of either sign. Does nothing if no element is read.
void plant_nonfinite(const Case& c, Problem& problem, DataFacts& facts);

}  // namespace backgauge
