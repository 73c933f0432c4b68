// SPDX-License-Identifier: Apache-2.0
// Connects problems and equations: unpacks the tensors of a call into matrices of an arithmetic, and arranges the
// results as the outputs of the op's table.
#pragma once

#include <stdexcept>
#include <utility>

#include "reference/arithmetic/arithmetic.h"
#include "reference/contract/call.h"
#include "reference/contract/rnn_params.h"
#include "reference/equations/block_lstm.h"
#include "reference/equations/cudnn_rnn.h"
#include "reference/equations/lstm_cell.h"

namespace backgauge {

// One output: its elements are those of `parts`, one after the other, each row-major; rows that are zero by contract
// are left out at the end.
template <class M>
struct Evaluated {
  std::string_view name;
  std::vector<M> parts;
};

// The matrices of a problem in one arithmetic.
template <Arithmetic A>
class Unpacked {
 public:
  using M = typename A::Matrix;

  Unpacked(const A& arithmetic, const Problem& problem) : a(arithmetic), p(problem), e(problem.extents) {}

  const double* values(std::string_view name) const {
    const Tensor* tensor = p.find(name);
    if (tensor == nullptr) throw std::logic_error("problem without tensor " + std::string(name));
    return tensor->values.data();
  }
  M matrix(std::string_view name, Index rows, Index cols) const { return a.input(values(name), rows, cols); }
  // Slice t of a [steps, rows, cols] tensor.
  M step(std::string_view name, Index t, Index rows, Index cols) const {
    return a.input(values(name) + t * rows * cols, rows, cols);
  }
  std::vector<M> steps(std::string_view name, Index count, Index rows, Index cols) const {
    std::vector<M> out;
    for (Index t = 0; t < count; ++t) out.push_back(step(name, t, rows, cols));
    return out;
  }
  equations::Peepholes<M> peepholes() const {
    const auto row = [&](std::string_view name) { return a.repeat_row(matrix(name, 1, e.H), e.B); };
    return {row("wci"), row("wcf"), row("wco")};
  }
  // Saved tensors of step t. At the last step cs is only read with peepholes, so it stays zero without them.
  equations::LstmSaved<M> saved(Index t, bool cs_is_read) const {
    return {step("i", t, e.B, e.H),  cs_is_read ? step("cs", t, e.B, e.H) : a.zeros(e.B, e.H),
            step("f", t, e.B, e.H),  step("o", t, e.B, e.H),
            step("ci", t, e.B, e.H), a.recomputable(values("co") + t * e.B * e.H, e.B, e.H)};
  }
  equations::RnnNet<M> net() const {
    equations::RnnNet<M> out;
    out.mode = static_cast<backgauge_rnn_mode>(p.attributes.rnn_mode);
    out.skip_input = rnn_params(p.attributes, e.I, e.H, e.L).skip_input;
    out.steps = static_cast<std::size_t>(e.T);
    out.layers = static_cast<std::size_t>(e.L);
    out.directions = static_cast<std::size_t>(e.D);
    out.input_h = steps("input_h", e.L * e.D, e.B, e.H);
    if (e.lstm) out.input_c = steps("input_c", e.L * e.D, e.B, e.H);
    const Index width = e.D * e.H;
    if (p.attributes.dropout == 1 && p.keep.empty()) {
      const std::vector<std::uint8_t> none(static_cast<std::size_t>(e.B * width), 0);
      const std::vector<M> nothing(static_cast<std::size_t>(e.T), a.dropout_mask(none.data(), 1, e.B, width));
      out.masks.assign(static_cast<std::size_t>(e.L - 1), {nothing});
    }
    const auto each = static_cast<Index>(p.masks_per_gap());
    for (Index gap = 0; each > 0 && gap + 1 < e.L; ++gap) {
      auto& of_gap = out.masks.emplace_back();
      for (Index direction = 0; direction < each; ++direction) of_gap.push_back(mask(p.mask(gap, direction), width));
    }
    return out;
  }

  // [t] [B, width]
  std::vector<M> mask(const std::vector<std::uint8_t>& keep, Index width) const {
    std::vector<M> out;
    const auto dropout = static_cast<double>(p.attributes.dropout);
    for (Index t = 0; t < e.T; ++t) out.push_back(a.dropout_mask(keep.data() + t * e.B * width, dropout, e.B, width));
    return out;
  }

  const A& a;
  const Problem& p;
  const Extents& e;
};

// The steps of a BlockLSTMGradV2 problem, as the equations read them.
template <class A>
class BlockLstmSteps {
 public:
  using M = typename A::Matrix;

  explicit BlockLstmSteps(const Unpacked<A>& unpacked) : u_(unpacked), e_(unpacked.e) {}

  M x(std::size_t t) const { return u_.step("x", index(t), e_.B, e_.I); }
  equations::LstmSaved<M> saved(std::size_t t) const { return u_.saved(index(t), e_.peephole || index(t) + 1 < e_.S); }
  M cs_before(std::size_t t) const { return before("cs", "cs_prev", t); }
  M h_before(std::size_t t) const { return before("h", "h_prev", t); }
  M cs_grad(std::size_t t) const { return u_.step("cs_grad", index(t), e_.B, e_.H); }
  M h_grad(std::size_t t) const { return u_.step("h_grad", index(t), e_.B, e_.H); }

 private:
  static Index index(std::size_t t) { return static_cast<Index>(t); }
  M before(std::string_view steps, std::string_view first, std::size_t t) const {
    return t == 0 ? u_.matrix(first, e_.B, e_.H) : u_.step(steps, index(t) - 1, e_.B, e_.H);
  }

  const Unpacked<A>& u_;
  const Extents& e_;
};

// The weights and the input of a CudnnRNN or CudnnRNNBackprop problem, as the equations read them.
template <class A>
class RnnInputs {
 public:
  using M = typename A::Matrix;

  explicit RnnInputs(const Unpacked<A>& unpacked)
      : u_(unpacked), layout_(rnn_params(u_.p.attributes, u_.e.I, u_.e.H, u_.e.L)) {}

  equations::RnnWeights<M> weights(std::size_t pseudo_layer) const {
    const double* params = u_.values("params");
    const Index l = static_cast<Index>(pseudo_layer) / u_.e.D, d = static_cast<Index>(pseudo_layer) % u_.e.D;
    const Index H = u_.e.H, GH = layout_.gates * H;
    return {u_.a.input(params + layout_.W(l, d, 0), GH, layout_.matrix_input(l)),
            u_.a.input(params + layout_.R(l, d, 0), GH, H), u_.a.input(params + layout_.bW(l, d, 0), 1, GH),
            u_.a.input(params + layout_.bR(l, d, 0), 1, GH)};
  }
  M input(std::size_t t) const { return u_.step("input", static_cast<Index>(t), u_.e.B, u_.e.I); }

 private:
  const Unpacked<A>& u_;
  RnnParams layout_;
};

template <class A, class M = typename A::Matrix>
std::vector<Evaluated<M>> evaluate_lstm_block_cell_grad(const A& a, const Problem& problem) {
  const Unpacked<A> u(a, problem);
  const Extents& e = u.e;
  const equations::Peepholes<M> p = e.peephole ? u.peepholes() : equations::Peepholes<M>{};
  const equations::LstmSaved<M> saved = u.saved(0, e.peephole);
  const M cs_prev = u.matrix("cs_prev", e.B, e.H);
  const auto d = equations::lstm_cell_backward(a, saved, cs_prev, u.matrix("cs_grad", e.B, e.H),
                                               u.matrix("h_grad", e.B, e.H), e.peephole ? &p : nullptr);
  std::vector<Evaluated<M>> out{{"cs_prev_grad", {d.cs_prev}},
                                {"dicfo", {a.beside({&d.gates.i, &d.gates.ci, &d.gates.f, &d.gates.o})}},
                                {"wci_grad", {}},
                                {"wcf_grad", {}},
                                {"wco_grad", {}}};
  if (e.peephole) {  // lstm_cell.md (14)
    out[2].parts = {a.column_sums(a.product(d.gates.i, cs_prev))};
    out[3].parts = {a.column_sums(a.product(d.gates.f, cs_prev))};
    out[4].parts = {a.column_sums(a.product(d.gates.o, saved.cs))};
  }
  return out;
}

template <class A, class M = typename A::Matrix>
std::vector<Evaluated<M>> evaluate_block_lstm_grad_v2(const A& a, const Problem& problem) {
  const Unpacked<A> u(a, problem);
  const Extents& e = u.e;
  std::vector<Evaluated<M>> out{{"x_grad", {}},   {"cs_prev_grad", {}}, {"h_prev_grad", {}}, {"w_grad", {}},
                                {"wci_grad", {}}, {"wcf_grad", {}},     {"wco_grad", {}},    {"b_grad", {}}};
  if (e.S == 0) return out;
  const equations::Peepholes<M> p = e.peephole ? u.peepholes() : equations::Peepholes<M>{};
  auto d = equations::block_lstm_backward(a, static_cast<std::size_t>(e.S), BlockLstmSteps<A>(u),
                                          u.matrix("w", e.I + e.H, 4 * e.H), e.peephole ? &p : nullptr);
  out[0].parts = std::move(d.x);
  out[1].parts = {std::move(d.cs_prev)};
  out[2].parts = {std::move(d.h_prev)};
  out[3].parts = {std::move(d.w)};
  if (e.peephole) {
    out[4].parts = {std::move(d.wci)};
    out[5].parts = {std::move(d.wcf)};
    out[6].parts = {std::move(d.wco)};
  }
  out[7].parts = {std::move(d.b)};
  return out;
}

template <class A, class M = typename A::Matrix>
std::vector<Evaluated<M>> evaluate_cudnn_rnn(const A& a, const Problem& problem) {
  const Unpacked<A> u(a, problem);
  const Extents& e = u.e;
  const equations::RnnNet<M> net = u.net();
  auto trace = equations::cudnn_rnn_forward(a, net, RnnInputs<A>(u));
  std::vector<Evaluated<M>> out{{"output", equations::cudnn_rnn_output(a, net, trace)},
                                {"output_h", std::move(trace.output_h)}};
  if (e.lstm) out.push_back({"output_c", std::move(trace.output_c)});
  return out;
}

template <class A, class M = typename A::Matrix>
std::vector<Evaluated<M>> evaluate_cudnn_rnn_backprop(const A& a, const Problem& problem) {
  const Unpacked<A> u(a, problem);
  const Extents& e = u.e;
  const equations::RnnNet<M> net = u.net();
  const RnnInputs<A> inputs(u);
  auto trace = equations::cudnn_rnn_forward(a, net, inputs);
  const auto output_backprop = [&](std::size_t t) {
    return u.step("output_backprop", static_cast<Index>(t), e.B, e.D * e.H);
  };
  const Index pseudo_layers = e.L * e.D;
  auto d = equations::cudnn_rnn_backward(
      a, net, inputs, std::move(trace), output_backprop, u.steps("output_h_backprop", pseudo_layers, e.B, e.H),
      e.lstm ? u.steps("output_c_backprop", pseudo_layers, e.B, e.H) : std::vector<M>{});
  std::vector<Evaluated<M>> out{{"input_backprop", std::move(d.input)}, {"input_h_backprop", std::move(d.input_h)}};
  if (e.lstm) out.push_back({"input_c_backprop", std::move(d.input_c)});
  Evaluated<M> params{"params_backprop", {}};
  for (auto& layer : d.layers) {
    params.parts.push_back(std::move(layer.W));
    params.parts.push_back(std::move(layer.R));
  }
  for (auto& layer : d.layers) {
    params.parts.push_back(std::move(layer.bW));
    params.parts.push_back(std::move(layer.bR));
  }
  out.push_back(std::move(params));
  return out;
}

template <class A, class M = typename A::Matrix>
std::vector<Evaluated<M>> evaluate(const A& a, const Problem& problem) {
  switch (problem.op) {
    case BACKGAUGE_LSTM_BLOCK_CELL_GRAD: return evaluate_lstm_block_cell_grad(a, problem);
    case BACKGAUGE_BLOCK_LSTM_GRAD_V2: return evaluate_block_lstm_grad_v2(a, problem);
    case BACKGAUGE_CUDNN_RNN: return evaluate_cudnn_rnn(a, problem);
    case BACKGAUGE_CUDNN_RNN_BACKPROP: return evaluate_cudnn_rnn_backprop(a, problem);
  }
  throw std::logic_error("unknown op");
}

}  // namespace backgauge
