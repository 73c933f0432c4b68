// SPDX-License-Identifier: Apache-2.0
// CudnnRNN and CudnnRNNBackprop. reference/semantics.md sections 3 and 4.
//
// Examples of a batch never meet in the forward pass, so the graph is built one example after the other.
#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "reference/testing/witness/graph.h"

namespace backgauge {
namespace {

// The weights of one direction of one layer.
template <class Scalar>
struct Cell {
  std::vector<std::vector<Variables<Scalar>>> W, R;  // [gate][unit][from]; no W: the input enters every gate as it is
  std::vector<Variables<Scalar>> bW, bR;             // [gate][unit]
};

// Cuts the flat params into cells by walking through it: matrices of all cells, then biases of all cells.
template <class Scalar>
std::vector<Cell<Scalar>> cut_params(const Problem& problem, const Variables<Scalar>& params) {
  const Extents& e = problem.extents;
  const std::int32_t mode = problem.attributes.rnn_mode;
  const std::int64_t gates = mode == BACKGAUGE_LSTM ? 4 : mode == BACKGAUGE_GRU ? 3 : 1;
  const std::int32_t input_mode = problem.attributes.input_mode;
  const bool skip = input_mode == BACKGAUGE_SKIP_INPUT || (input_mode == BACKGAUGE_AUTO_SELECT && e.I == e.H);

  auto next = params.begin();
  const auto vector = [&](std::int64_t length) {
    if (params.end() - next < length) throw std::invalid_argument("params is shorter than its parts");
    Variables<Scalar> part(next, next + length);
    next += length;
    return part;
  };
  const auto matrices = [&](std::int64_t inputs) {
    std::vector<std::vector<Variables<Scalar>>> result(gates);
    for (auto& matrix : result) {
      for (std::int64_t unit = 0; unit < e.H; ++unit) matrix.push_back(vector(inputs));
    }
    return result;
  };
  const auto biases = [&] {
    std::vector<Variables<Scalar>> result(gates);
    for (auto& bias : result) bias = vector(e.H);
    return result;
  };

  std::vector<Cell<Scalar>> cells(e.L * e.D);
  for (std::int64_t layer = 0; layer < e.L; ++layer) {
    for (std::int64_t direction = 0; direction < e.D; ++direction) {
      Cell<Scalar>& cell = cells[layer * e.D + direction];
      if (layer > 0 || !skip) cell.W = matrices(layer == 0 ? e.I : e.D * e.H);
      cell.R = matrices(e.H);
    }
  }
  for (Cell<Scalar>& cell : cells) {
    cell.bW = biases();
    cell.bR = biases();
  }
  if (next != params.end()) throw std::invalid_argument("params is longer than its parts");
  return cells;
}

template <class Scalar>
struct RnnState {
  Variables<Scalar> h, c;  // [H]; c: of an LSTM
};

template <class Scalar>
Variable<Scalar> add_product(Variable<Scalar> sum, const Variables<Scalar>& row, const Variables<Scalar>& vector) {
  for (std::size_t from = 0; from < row.size(); ++from) sum = sum + row[from] * vector[from];
  return sum;
}

template <class Scalar>
RnnState<Scalar> step(std::int32_t mode, const Cell<Scalar>& cell, const Variables<Scalar>& x,
                      const RnnState<Scalar>& before) {
  RnnState<Scalar> after = before;
  for (std::size_t unit = 0; unit < before.h.size(); ++unit) {
    const auto from_input = [&](std::size_t gate) {
      const auto bias = cell.bW[gate][unit];
      return cell.W.empty() ? bias + x[unit] : add_product(bias, cell.W[gate][unit], x);
    };
    const auto from_state = [&](std::size_t gate) {
      return add_product(cell.bR[gate][unit], cell.R[gate][unit], before.h);
    };
    const auto both = [&](std::size_t gate) { return from_input(gate) + from_state(gate); };
    auto& h = after.h[unit];
    switch (mode) {
      case BACKGAUGE_RNN_RELU: h = relu(both(0)); break;
      case BACKGAUGE_RNN_TANH: h = tanh(both(0)); break;
      case BACKGAUGE_LSTM: {
        const auto i = sigmoid(both(0)), f = sigmoid(both(1)), n = tanh(both(2)), o = sigmoid(both(3));
        after.c[unit] = f * before.c[unit] + i * n;
        h = o * tanh(after.c[unit]);
        break;
      }
      case BACKGAUGE_GRU: {
        const auto r = sigmoid(both(0)), z = sigmoid(both(1));
        const auto n = tanh(from_input(2) + r * from_state(2));
        h = (h.tape->leaf(1) - z) * n + z * before.h[unit];
        break;
      }
      default: throw std::invalid_argument("no such rnn_mode");
    }
  }
  return after;
}

// What the dropout between two layers multiplies an element with.
double dropout_factor(const Problem& problem, std::int64_t gap, std::int64_t direction, std::int64_t element) {
  const double dropped = problem.attributes.dropout;
  if (dropped == 0) return 1;
  if (dropped == 1) return 0;
  return problem.mask(gap, direction)[element] ? 1 / (1 - dropped) : 0;
}

// The forward pass of a problem of either op.
template <class Scalar>
struct Forward {
  Variables<Scalar> input, input_h, input_c, params;  // leaves
  Variables<Scalar> output, output_h, output_c;

  Forward(Tape<Scalar>& tape, const Problem& problem);
};

template <class Scalar>
Forward<Scalar>::Forward(Tape<Scalar>& tape, const Problem& problem) {
  const Extents& e = problem.extents;
  const std::int64_t states = e.L * e.D * e.B * e.H;
  const std::int64_t width = e.D * e.H;
  input = leaves(tape, problem, "input", e.T * e.B * e.I);
  input_h = leaves(tape, problem, "input_h", states);
  input_c = leaves(tape, problem, "input_c", e.lstm ? states : 0);
  params = leaves(tape, problem, "params", e.params_length);
  output.resize(e.T * e.B * width);
  output_h.resize(states);
  output_c.resize(e.lstm ? states : 0);
  const auto cells = cut_params(problem, params);

  for (std::int64_t batch = 0; batch < e.B; ++batch) {
    std::vector<Variables<Scalar>> below(e.T);  // [T][width of the layer's input], before dropout
    for (std::int64_t time = 0; time < e.T; ++time) {
      const auto row = input.begin() + (time * e.B + batch) * e.I;
      below[time].assign(row, row + e.I);
    }
    for (std::int64_t layer = 0; layer < e.L; ++layer) {
      std::vector<Variables<Scalar>> leaving(e.T, Variables<Scalar>(width));
      for (std::int64_t direction = 0; direction < e.D; ++direction) {
        const std::int64_t cell = layer * e.D + direction;
        const std::int64_t first = (cell * e.B + batch) * e.H;
        std::vector<Variables<Scalar>> entering = below;
        for (std::int64_t element = 0; layer > 0 && element < e.T * width; ++element) {
          const std::int64_t time = element / width, column = element % width;
          const std::int64_t place = (time * e.B + batch) * width + column;
          const double factor = dropout_factor(problem, layer - 1, direction, place);
          entering[time][column] = tape.leaf(static_cast<Scalar>(factor)) * below[time][column];
        }
        RnnState<Scalar> state;
        state.h.assign(input_h.begin() + first, input_h.begin() + first + e.H);
        if (e.lstm) state.c.assign(input_c.begin() + first, input_c.begin() + first + e.H);
        for (std::int64_t done = 0; done < e.T; ++done) {
          const std::int64_t time = direction == 0 ? done : e.T - 1 - done;
          state = step(problem.attributes.rnn_mode, cells[cell], entering[time], state);
          std::copy(state.h.begin(), state.h.end(), leaving[time].begin() + direction * e.H);
        }
        std::copy(state.h.begin(), state.h.end(), output_h.begin() + first);
        if (e.lstm) std::copy(state.c.begin(), state.c.end(), output_c.begin() + first);
      }
      below = std::move(leaving);
    }
    for (std::int64_t time = 0; time < e.T; ++time) {
      std::ranges::copy(below[time], output.begin() + (time * e.B + batch) * width);
    }
  }
}

}  // namespace

template <class Scalar>
std::vector<WitnessTensor<Scalar>> cudnn_rnn_backprop_witness(const Problem& problem) {
  const Extents& e = problem.extents;
  Tape<Scalar> tape;
  const Forward<Scalar> forward(tape, problem);

  auto loss = tape.leaf(0);
  const auto add = [&](const Variables<Scalar>& outputs, std::string_view upstream) {
    const auto weights = leaves(tape, problem, upstream, std::ssize(outputs));
    loss = add_product(loss, weights, outputs);
  };
  add(forward.output, "output_backprop");
  add(forward.output_h, "output_h_backprop");
  add(forward.output_c, "output_c_backprop");

  const Derivatives<Scalar> of_loss(loss);
  const Shape state{e.L * e.D, e.B, e.H};
  std::vector<WitnessTensor<Scalar>> result{gradient("input_backprop", {e.T, e.B, e.I}, of_loss, forward.input),
                                            gradient("input_h_backprop", state, of_loss, forward.input_h)};
  if (e.lstm) result.push_back(gradient("input_c_backprop", state, of_loss, forward.input_c));
  result.push_back(gradient("params_backprop", {e.params_length}, of_loss, forward.params));
  return result;
}

template <class Scalar>
std::vector<WitnessTensor<Scalar>> cudnn_rnn_witness(const Problem& problem) {
  const Extents& e = problem.extents;
  Tape<Scalar> tape;
  const Forward<Scalar> forward(tape, problem);
  const Shape state{e.L * e.D, e.B, e.H};
  std::vector<WitnessTensor<Scalar>> result{values("output", {e.T, e.B, e.D * e.H}, forward.output),
                                            values("output_h", state, forward.output_h)};
  if (e.lstm) result.push_back(values("output_c", state, forward.output_c));
  return result;
}

template std::vector<WitnessTensor<double>> cudnn_rnn_backprop_witness(const Problem&);
template std::vector<WitnessTensor<long double>> cudnn_rnn_backprop_witness(const Problem&);
template std::vector<WitnessTensor<double>> cudnn_rnn_witness(const Problem&);
template std::vector<WitnessTensor<long double>> cudnn_rnn_witness(const Problem&);

}  // namespace backgauge
