// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ops/entry.h"

namespace backgauge::workload_ops {
namespace {

// Of the saved tensors, those that depend on units only through products.
bool is_sigmoid_gate(std::string_view name) { return name == "i" || name == "f" || name == "o"; }

}  // namespace

SignPatterns lstm_signs(const Problem& problem, std::uint64_t seed) {
  const Extents& e = problem.extents;
  const Flips inputs = draw_flips(seed, "inputs", e.I), units = draw_flips(seed, "units", e.H);
  Flips gates;
  for (const char gate : traits_of(problem.op).gates) gates = joined(gates, gate == 'c' ? units : no_flips(e.H));
  return [=](const TensorSpec& tensor) -> SignPattern {
    switch (tensor.role) {
      case Role::kLength: return {};
      case Role::kData: return {{}, inputs};
      case Role::kWeight: return {joined(inputs, units), gates};
      case Role::kBias:
      case Role::kGates: return {{}, gates};
      case Role::kSaved: return is_sigmoid_gate(tensor.name) ? SignPattern{} : SignPattern{{}, units};
      case Role::kState:
      case Role::kCellState:
      case Role::kPeephole:
      case Role::kUpstream:
      case Role::kUpstreamCellState: return {{}, units};
      case Role::kForward:
      case Role::kReserve:
      case Role::kUpstreamState: break;
    }
    refuse_signs(tensor);
  };
}

}  // namespace backgauge::workload_ops
