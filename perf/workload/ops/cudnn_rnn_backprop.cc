// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "perf/workload/ops/entry.h"
#include "perf/workload/ops/traffic.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/size_product.h"

namespace backgauge::workload_ops {
namespace {

Work work_of_stack(const Case& c, const Extents& e) {
  const RnnParams layout = rnn_params(attributes_of(c), e.I, e.H, e.L);
  double flops = 0;
  for (std::int64_t layer = 0; layer < e.L; ++layer) {
    flops += size_product({4, e.T, e.B, e.D, layout.gates, e.H, layout.matrix_input(layer) + e.H});
  }
  return {flops, minimal_bytes(c, e), LimitedBy::kArithmetic};
}

// The gate that takes the tanh of its products; no other gate depends on the sign of a unit. -1: none does.
std::int64_t odd_gate(std::int32_t mode) {
  constexpr std::int64_t kOfLstmAndGru = 2;  // i,f,n,o and r,z,n
  return mode == BACKGAUGE_RNN_RELU ? -1 : mode == BACKGAUGE_RNN_TANH ? 0 : kOfLstmAndGru;
}

class StackSigns {
 public:
  StackSigns(const Problem& problem, std::uint64_t seed)
      : e_(problem.extents),
        layout_(rnn_params(problem.attributes, e_.I, e_.H, e_.L)),
        odd_(odd_gate(problem.attributes.rnn_mode)),
        seed_(seed) {}

  Flips inputs() const { return layout_.skip_input ? no_flips(e_.I) : draw_flips(seed_, "inputs", e_.I); }

  // A layer's output.
  Flips output(std::int64_t layer) const {
    Flips out;
    for (std::int64_t direction = 0; direction < e_.D; ++direction) out = joined(out, units(layer, direction));
    return out;
  }

  // The states of all layers and directions, [L * D, B, H].
  Flips states() const {
    Flips out;
    for (std::int64_t layer = 0; layer < e_.L; ++layer) {
      for (std::int64_t direction = 0; direction < e_.D; ++direction) {
        const Flips mine = units(layer, direction);
        for (std::int64_t b = 0; b < e_.B; ++b) out.insert(out.end(), mine.begin(), mine.end());
      }
    }
    return out;
  }

  Flips params() const {
    Flips out = no_flips(layout_.size());
    for (std::int64_t layer = 0; layer < e_.L; ++layer) {
      const Flips below = layer == 0 ? inputs() : output(layer - 1);
      for (std::int64_t direction = 0; direction < e_.D; ++direction) {
        const Flips mine = units(layer, direction);
        for (std::int64_t gate = 0; gate < layout_.gates; ++gate) {
          const Flips rows = gate == odd_ ? mine : no_flips(e_.H);
          const Flips one{0};  // a bias is a matrix of one column
          if (layout_.matrix_input(layer) > 0) fill(out, layout_.W(layer, direction, gate), rows, below);
          fill(out, layout_.R(layer, direction, gate), rows, mine);
          fill(out, layout_.bW(layer, direction, gate), rows, one);
          fill(out, layout_.bR(layer, direction, gate), rows, one);
        }
      }
    }
    return out;
  }

 private:
  Flips units(std::int64_t layer, std::int64_t direction) const {
    const bool keeps = odd_ < 0 || (layout_.skip_input && layer == 0);
    if (keeps) return no_flips(e_.H);
    return draw_flips(seed_, "units " + std::to_string(layer) + " " + std::to_string(direction), e_.H);
  }

  static void fill(Flips& params, std::int64_t begin, const Flips& rows, const Flips& columns) {
    auto at = params.begin() + begin;
    for (const std::uint8_t row : rows) {
      for (const std::uint8_t column : columns) *at++ = row ^ column;
    }
  }

  Extents e_;
  RnnParams layout_;
  std::int64_t odd_;
  std::uint64_t seed_;
};

SignPatterns stack_signs(const Problem& problem, std::uint64_t seed) {
  const StackSigns net(problem, seed);
  return [inputs = net.inputs(), states = net.states(), params = net.params(),
          top = net.output(problem.extents.L - 1)](const TensorSpec& tensor) -> SignPattern {
    switch (tensor.role) {
      case Role::kData: return {{}, inputs};
      case Role::kWeight: return {{}, params};
      case Role::kUpstream: return {{}, top};
      case Role::kState:
      case Role::kCellState:
      case Role::kUpstreamState:
      case Role::kUpstreamCellState: return {{}, states};
      case Role::kForward:
      case Role::kReserve: return {};  // computed again
      case Role::kLength:
      case Role::kPeephole:
      case Role::kBias:
      case Role::kGates:
      case Role::kSaved: break;
    }
    refuse_signs(tensor);
  };
}

}  // namespace

const Entry kCudnnRnnBackprop{work_of_stack, stack_signs};

}  // namespace backgauge::workload_ops
