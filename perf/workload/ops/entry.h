// SPDX-License-Identifier: Apache-2.0
// What an op does in a workload, apart from what its facts, tensors and roles say: one entry per op.
#pragma once

#include "perf/workload/cost_model.h"
#include "perf/workload/ops/sign_pattern.h"
#include "reference/contract/call.h"
#include "reference/contract/op_entries.h"

namespace backgauge::workload_ops {

struct Entry {
  // cost_model.h says how it is counted.
  Work (*work)(const Case&, const Extents&);
  // Signs drawn from the seed.
  SignPatterns (*signs)(const Problem&, std::uint64_t seed);
};
BACKGAUGE_OP_ENTRIES

// The signs of the two LSTM ops.
SignPatterns lstm_signs(const Problem& problem, std::uint64_t seed);

}  // namespace backgauge::workload_ops
