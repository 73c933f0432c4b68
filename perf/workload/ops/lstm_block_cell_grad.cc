// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ops/entry.h"
#include "perf/workload/ops/traffic.h"
#include "reference/contract/size_product.h"

namespace backgauge::workload_ops {
namespace {

Work work_of_cell(const Case& c, const Extents& e) {
  const double moved =
      e.peephole ? size_product({14, e.B, e.H}) + size_product({6, e.H}) : size_product({13, e.B, e.H});
  return {0, moved * bytes_of_an_element(c), LimitedBy::kBandwidth};
}

}  // namespace

const Entry kLstmBlockCellGrad{work_of_cell, lstm_signs};

}  // namespace backgauge::workload_ops
