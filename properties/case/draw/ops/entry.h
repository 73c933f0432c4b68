// SPDX-License-Identifier: Apache-2.0
// What an op does when its inputs are drawn, apart from what its facts and the roles of its tensors say: one entry per
// op.
#pragma once

#include "properties/case/draw/draw_rules.h"
#include "properties/case/draw/structures.h"
#include "properties/case/line/filled.h"
#include "properties/case/line/random.h"
#include "reference/contract/op_entries.h"

namespace backgauge::draw_ops {

struct Entry {
  // Changes the rules of the data profile where they differ for this op. `stream`: of draw_rules.
  void (*adapt)(const Case&, const RandomStream& stream, DrawRules&);
  // Fills the inputs of a problem, which already have their shapes, with values rounded to the dtype. Sets
  // facts.consistent_saved if the op takes saved tensors. Throws Stopped.
  void (*draw)(const Crew&, const Case&, const DrawRules&, Problem&, DataFacts&);
  Structures (*structures)();
};
BACKGAUGE_OP_ENTRIES

}  // namespace backgauge::draw_ops
