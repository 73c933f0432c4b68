// SPDX-License-Identifier: Apache-2.0
// What each op does in one room of the project: how its inputs are drawn, what a call costs. Facts are columns of
// ops.inc; behaviour is an entry, in a file of its own unless it is a few lines.
//
// A room declares its entries like this:
//
//   namespace backgauge::drawing {
//   struct Entry { void (*draw)(const Case&, Problem&); };
//   BACKGAUGE_OP_ENTRIES
//   }
//
// and defines drawing::kLstmBlockCellGrad, drawing::kBlockLstmGradV2 ... in ops/lstm_block_cell_grad.cc ... An op
// without an entry does not link.
#pragma once

#include "reference/contract/op_spec.h"
#include "reference/contract/ops.inc"

#define BACKGAUGE_DECLARE_ENTRY(Name, ...) extern const Entry k##Name;
#define BACKGAUGE_FIND_ENTRY(Name, TENSORS, enumerator, ...) \
  if (op == enumerator) return k##Name;

// entry_of(op): the entry of a gradient op. Throws std::logic_error for other numbers.
#define BACKGAUGE_OP_ENTRIES                      \
  BACKGAUGE_GRADIENT_OPS(BACKGAUGE_DECLARE_ENTRY) \
  inline const Entry& entry_of(backgauge_op op) { \
    BACKGAUGE_GRADIENT_OPS(BACKGAUGE_FIND_ENTRY)  \
    ::backgauge::refuse_entry(op);                \
  }

namespace backgauge {
[[noreturn]] void refuse_entry(backgauge_op op);
}
