// SPDX-License-Identifier: Apache-2.0
// One layer of a CudnnRNNBackprop problem, or one direction of it, as a problem of its own.
#pragma once

#include "properties/laws/transform.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {

struct Subnet {
  std::int64_t layer, first_direction, directions;
};

RnnParams layout_of(const Problem& problem);

// Positions of a subnet's parameters in params of the net, in the order of the subnet's own layout.
Selection params_of(const RnnParams& layout, const Subnet& subnet);

// The subnet's problem with its part of every input. Two inputs are still those of the whole net and must be replaced:
// `input` unless it is the first layer, and output_backprop unless it is the last.
Problem subnet_problem(const Problem& net, const Subnet& subnet);

// Its part of states like input_h [L * D, B, H].
Selection states_of(const Problem& net, const Subnet& subnet);

// Its part of [T, B, D * H].
Selection outputs_of(const Problem& net, const Subnet& subnet);

// Values [T, ...] in the order in which a direction takes its steps, or, of a direction, in the order of time.
template <class Values>
Values in_order_of(std::int64_t direction, const Values& values) {
  return direction == 0 ? values : select(values, reversed(values.shape, 0));
}

}  // namespace backgauge
