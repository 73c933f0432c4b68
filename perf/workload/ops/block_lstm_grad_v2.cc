// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ops/entry.h"
#include "perf/workload/ops/traffic.h"
#include "reference/contract/size_product.h"

namespace backgauge::workload_ops {
namespace {

Work work_of_block(const Case& c, const Extents& e) {
  return {size_product({16, e.S, e.B, e.H, e.I + e.H}), minimal_bytes(c, e), LimitedBy::kArithmetic};
}

}  // namespace

const Entry kBlockLstmGradV2{work_of_block, lstm_signs};

}  // namespace backgauge::workload_ops
