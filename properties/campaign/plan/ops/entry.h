// SPDX-License-Identifier: Apache-2.0
// What an op does in a plan, apart from what its facts say: one entry per op.
#pragma once

#include <cstddef>
#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"
#include "reference/contract/op_entries.h"

namespace backgauge::plan_ops {

// The place of a case of structured_cases.
struct StructuredTurn {
  std::size_t number;   // of the structure
  std::size_t k;        // of the case among those of the structure
  bool thorough;        // every variant, with every dtype
  std::size_t variant;  // only if thorough
};

struct Entry {
  // Variants with code of their own, the most used first: modes, or peepholes on and off.
  std::size_t variants;
  void (*choose_variant)(Case&, std::size_t variant);
  // Attributes of training sizes that take turns.
  void (*take_turn)(Case&, std::size_t turn);
  // On input a case that has only op and dtype. Draws the rest, except the seed.
  void (*draw)(Case&, Draws&);
  // In a tier that is not thorough, cases for each structure.
  std::size_t structured_cases;
  // Sizes and attributes of a case that has op, dtype and data.
  void (*choose_structured)(Case&, const StructuredTurn&);
};
BACKGAUGE_OP_ENTRIES

// All variants of a case, in the order of their values.
std::vector<Case> variants_of(const Case& base);

}  // namespace backgauge::plan_ops
