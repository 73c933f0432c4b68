// SPDX-License-Identifier: Apache-2.0
#include "reference/testing/random_problem.h"

#include <cmath>
#include <limits>
#include <random>

#include "reference/arithmetic/exact.h"
#include "reference/contract/rnn_params.h"
#include "reference/equations/block_lstm.h"
#include "reference/evaluate.h"

namespace backgauge::testing {
namespace {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

double value_of(std::string_view name, Random& random) {
  const double n = std::normal_distribution<double>()(random);
  if (name == "i" || name == "f" || name == "o") return 1 / (1 + std::exp(-n));
  if (name == "ci" || name == "co") return std::tanh(n);
  if (name == "w" || name == "params") return 0.5 * n;
  return n;
}

void draw_attributes(Problem& problem, Random& random, const RandomProblemOptions& options) {
  Extents& e = problem.extents;
  backgauge_attributes& a = problem.attributes;
  e.T = between(random, 1, options.largest);
  e.B = between(random, 1, options.largest);
  e.I = between(random, 1, options.largest);
  e.H = between(random, 1, options.largest);
  e.S = between(random, 0, 3) == 0 ? between(random, 0, e.T) : e.T;
  e.peephole = between(random, 0, 1) == 1;
  a.use_peephole = e.peephole;
  if (!traits_of(problem.op).has_layers) return;
  a.rnn_mode = static_cast<std::int32_t>(between(random, BACKGAUGE_RNN_RELU, BACKGAUGE_GRU));
  a.input_mode = static_cast<std::int32_t>(between(random, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_AUTO_SELECT));
  a.direction = static_cast<std::int32_t>(between(random, BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL));
  if (a.input_mode == BACKGAUGE_SKIP_INPUT || between(random, 0, 4) == 0) e.I = e.H;
  e.L = between(random, 1, 3);
  e.D = a.direction;
  e.lstm = a.rnn_mode == BACKGAUGE_LSTM;
  constexpr float kDropouts[] = {0.0f, 0.0f, 0.25f, 0.5f, 1.0f};
  a.dropout = options.dropout ? kDropouts[between(random, 0, 4)] : 0.0f;
  e.params_length = rnn_params(a, e.I, e.H, e.L).size();
}

void draw_masks(Problem& problem, Random& random) {
  const Extents& e = problem.extents;
  if (problem.attributes.dropout == 0) return;
  std::bernoulli_distribution kept(1 - static_cast<double>(problem.attributes.dropout));
  for (std::int64_t gap = 0; gap + 1 < e.L; ++gap) {
    std::vector<std::uint8_t> keep(static_cast<std::size_t>(mask_elements(e)));
    for (std::uint8_t& k : keep) k = kept(random);
    problem.keep.push_back(std::move(keep));
  }
}

// Unit 0 of the first pseudo-layer gets no input, so its relu is exactly at 0.
void kill_first_unit(Problem& problem) {
  const Extents& e = problem.extents;
  const RnnParams layout = rnn_params(problem.attributes, e.I, e.H, e.L);
  for (Tensor& tensor : problem.inputs) {
    if (tensor.name != "params" || layout.skip_input) continue;
    double* params = tensor.values.data();
    std::fill_n(params + layout.W(0, 0, 0), e.I, 0.0);
    std::fill_n(params + layout.R(0, 0, 0), e.H, 0.0);
    params[layout.bW(0, 0, 0)] = params[layout.bR(0, 0, 0)] = 0;
  }
}

// Overwrites the saved tensors by those of the forward equations, without clipping.
void save_forward(Problem& problem) {
  const Exact<double> a;
  const Unpacked<Exact<double>> u(a, problem);
  const Extents& e = problem.extents;
  const std::int64_t steps = traits_of(problem.op).has_steps ? e.S : 1;
  equations::BlockLstmSequence<Plane<double>> sequence;
  sequence.x = u.steps("x", steps, e.B, e.I);
  sequence.cs_prev = u.matrix("cs_prev", e.B, e.H);
  sequence.h_prev = u.matrix("h_prev", e.B, e.H);
  Plane<double> w = u.matrix("w", e.I + e.H, 4 * e.H), b = u.matrix("b", 1, 4 * e.H);
  const auto p = u.peepholes();
  equations::block_lstm_forward(a, sequence, w, b, e.peephole ? &p : nullptr, 0.0);
  for (Tensor& tensor : problem.inputs) {
    for (std::int64_t t = 0; t < steps; ++t) {
      const auto& s = sequence.saved[static_cast<std::size_t>(t)];
      const Plane<double>* from = tensor.name == "i"    ? &s.i
                                  : tensor.name == "cs" ? &s.cs
                                  : tensor.name == "f"  ? &s.f
                                  : tensor.name == "o"  ? &s.o
                                  : tensor.name == "ci" ? &s.ci
                                  : tensor.name == "co" ? &s.co
                                  : tensor.name == "h"  ? &sequence.h[static_cast<std::size_t>(t)]
                                                        : nullptr;
      if (from != nullptr) std::copy_n(from->data(), from->size(), tensor.values.data() + t * from->size());
    }
  }
}

void poison_unread(Problem& problem) {
  for (const TensorSpec& spec : find_op(problem.op)->inputs) {
    for (Tensor& tensor : problem.inputs) {
      if (tensor.name != spec.name || spec.is_int64) continue;
      const std::int64_t read = elements_in_rows(tensor.shape, spec.rows(problem.extents));
      std::fill(tensor.values.begin() + read, tensor.values.end(), std::numeric_limits<double>::quiet_NaN());
    }
  }
}

}  // namespace

Problem random_problem(backgauge_op op, std::uint64_t seed, const RandomProblemOptions& options) {
  Random random(seed);
  Problem problem;
  problem.op = op;
  problem.dtype = BACKGAUGE_FLOAT64;
  draw_attributes(problem, random, options);
  draw_masks(problem, random);
  for (const TensorSpec& spec : find_op(op)->inputs) {
    if (!spec.present(problem.extents) || is_made_by_forward(spec.role)) continue;
    Tensor tensor{std::string(spec.name), spec.shape(problem.extents), {}};
    tensor.values.resize(static_cast<std::size_t>(*element_count(tensor.shape)));
    for (double& value : tensor.values) value = value_of(spec.name, random);
    if (spec.is_int64) tensor.values[0] = static_cast<double>(problem.extents.S);
    problem.inputs.push_back(std::move(tensor));
  }
  if (problem.attributes.rnn_mode == BACKGAUGE_RNN_RELU) kill_first_unit(problem);
  if (traits_of(op).takes_saved) options.consistent ? save_forward(problem) : poison_unread(problem);
  return problem;
}

}  // namespace backgauge::testing
