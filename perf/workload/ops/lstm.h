// SPDX-License-Identifier: Apache-2.0
// What the two LSTM ops have in common in a workload.
#pragma once

#include "perf/workload/ops/entry.h"

namespace backgauge::workload_ops {

SignPatterns lstm_signs(const Problem& problem, std::uint64_t seed);

}  // namespace backgauge::workload_ops
