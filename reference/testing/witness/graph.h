// SPDX-License-Identifier: Apache-2.0
// Between the tensors of a problem and the variables of a tape; and the graphs of the ops, one function each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/testing/witness/tape.h"
#include "reference/testing/witness/witness.h"

namespace backgauge {

template <class Scalar>
using Variables = std::vector<Variable<Scalar>>;

// The first `count` elements of an input; the others are not looked at.
template <class Scalar>
Variables<Scalar> leaves(Tape<Scalar>& tape, const Problem& problem, std::string_view name, std::int64_t count) {
  Variables<Scalar> result;
  for (std::int64_t index = 0; index < count; ++index) {
    result.push_back(tape.leaf(static_cast<Scalar>(problem.find(name)->values[index])));
  }
  return result;
}

// Terms whose value no derivative depends on, for the sake of the derivative by them.
template <class Scalar>
Variables<Scalar> unread(Tape<Scalar>& tape, std::int64_t count) {
  Variables<Scalar> result;
  for (std::int64_t index = 0; index < count; ++index) result.push_back(tape.leaf(0));
  return result;
}

template <class Scalar>
WitnessTensor<Scalar> zeros(std::string name, Shape shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return {std::move(name), std::move(shape), std::vector<Scalar>(count), std::vector<Scalar>(count)};
}

// The derivatives by `variables`, which are the first elements of the tensor; the others are zeros.
template <class Scalar>
WitnessTensor<Scalar> gradient(std::string name, Shape shape, const Derivatives<Scalar>& loss,
                               const Variables<Scalar>& variables) {
  WitnessTensor<Scalar> tensor = zeros<Scalar>(std::move(name), std::move(shape));
  for (std::size_t index = 0; index < variables.size(); ++index) {
    tensor.value[index] = loss.value(variables[index]);
    tensor.magnitude[index] = loss.magnitude(variables[index]);
  }
  return tensor;
}

// The variables themselves.
template <class Scalar>
WitnessTensor<Scalar> values(std::string name, Shape shape, const Variables<Scalar>& variables) {
  WitnessTensor<Scalar> tensor = zeros<Scalar>(std::move(name), std::move(shape));
  for (std::size_t index = 0; index < variables.size(); ++index) {
    tensor.value[index] = variables[index].value();
    tensor.magnitude[index] = variables[index].magnitude();
  }
  return tensor;
}

template <class Scalar>
std::vector<WitnessTensor<Scalar>> lstm_block_cell_grad_witness(const Problem& problem);
template <class Scalar>
std::vector<WitnessTensor<Scalar>> block_lstm_grad_v2_witness(const Problem& problem);
template <class Scalar>
std::vector<WitnessTensor<Scalar>> cudnn_rnn_backprop_witness(const Problem& problem);
template <class Scalar>
std::vector<WitnessTensor<Scalar>> cudnn_rnn_witness(const Problem& problem);

}  // namespace backgauge
