// SPDX-License-Identifier: Apache-2.0
// What an op does in a plan, apart from what its facts say: one entry per op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properties/campaign/plan/ops/shapes.h"
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

inline constexpr std::int64_t kAnySteps = INT64_MAX;

struct Entry {
  // Variants with code of their own, the most used first: modes, or peepholes on and off.
  std::size_t variants;
  void (*choose_variant)(Case&, std::size_t variant);
  // Attributes of training sizes that take turns.
  void (*take_turn)(Case&, std::size_t turn);
  // The direction of the case that has this turn in a sweep: of odd ones both, where the op has both.
  void (*take_direction)(Case&, std::size_t turn);
  // The most steps in which no value of a variant grows so far that no bound is meaningful; 0 if the op has no steps.
  std::int64_t (*most_steps)(const Case&);
  // Edge shapes that other ops do not have, and index limits: sweeps.h.
  void (*add_edge_shapes)(Shapes&);
  void (*add_index_limits)(Shapes&);
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
