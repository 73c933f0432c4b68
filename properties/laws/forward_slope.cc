// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/forward_slope.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <stdexcept>

#include "properties/case/line/random.h"
#include "properties/laws/subnet.h"
#include "properties/laws/transform.h"
#include "reference/arithmetic/exact.h"
#include "reference/contract/storage.h"
#include "reference/evaluate.h"
#include "reference/oracle.h"

namespace backgauge {
namespace {

using Complex = std::complex<long double>;
// Its square underflows to 0: the derivative has no error of the second order, and a relu at 0 stays at 0.
constexpr long double kStep = 1e-3000L;

constexpr const char* kPreActivations = "pre_activations";  // of the cell: [B, 4H], gates i, c, f, o

// Exact complex arithmetic in which one tensor of a problem is displaced by i * kStep * step.
class Perturbed : public Exact<Complex> {
 public:
  Perturbed(const Tensor& tensor, const std::vector<double>& step) : tensor_(tensor), step_(step) {}

  Matrix input(const double* values, Index rows, Index cols) const {
    Matrix out = Exact<Complex>::input(values, rows, cols);
    const double* begin = tensor_.values.data();
    if (values < begin || values >= begin + tensor_.values.size()) return out;
    for (Index k = 0; k < out.size(); ++k) {
      out.data()[k] +=
          Complex(0, kStep * static_cast<long double>(step_[static_cast<std::size_t>(values - begin + k)]));
    }
    return out;
  }

 private:
  const Tensor& tensor_;
  const std::vector<double>& step_;
};

// The forward of the LSTM ops over the steps that are read.
template <class A, class M = typename A::Matrix>
equations::BlockLstmSequence<M> lstm_forward(const A& a, const Problem& problem) {
  const Unpacked<A> u(a, problem);
  const Extents& e = problem.extents;
  const equations::Peepholes<M> peepholes = e.peephole ? u.peepholes() : equations::Peepholes<M>{};
  const equations::Peepholes<M>* p = e.peephole ? &peepholes : nullptr;
  equations::BlockLstmSequence<M> out;
  out.cs_prev = u.matrix("cs_prev", e.B, e.H);
  if (!traits_of(problem.op).has_steps) {
    const M g = u.matrix(kPreActivations, e.B, 4 * e.H);
    const auto gate = [&](Index k) { return a.columns(g, k * e.H, e.H); };
    const equations::LstmGates<M> gates{.i = gate(0), .ci = gate(1), .f = gate(2), .o = gate(3)};
    out.saved.push_back(equations::lstm_cell_forward(a, gates, out.cs_prev, p, 0.0));
    out.h.push_back(a.product(out.saved[0].o, out.saved[0].co));
    return out;
  }
  out.x = u.steps("x", e.S, e.B, e.I);
  out.h_prev = u.matrix("h_prev", e.B, e.H);
  equations::block_lstm_forward(a, out, u.matrix("w", e.I + e.H, 4 * e.H), u.matrix("b", 1, 4 * e.H), p, 0.0);
  return out;
}

// Derivative of the sum of upstream times output.
long double slope(const std::vector<Plane<Complex>>& outputs, const double* upstream) {
  long double out = 0;
  for (const auto& part : outputs) {
    for (Index k = 0; k < part.size(); ++k) {
      out += part.data()[k].imag() / kStep * static_cast<long double>(*upstream++);
    }
  }
  return out;
}

long double lstm_slope(const Problem& problem, const Perturbed& a) {
  const auto sequence = lstm_forward(a, problem);
  std::vector<Plane<Complex>> cs;
  for (const auto& saved : sequence.saved) cs.push_back(saved.cs);
  return slope(sequence.h, problem.find("h_grad")->values.data()) + slope(cs, problem.find("cs_grad")->values.data());
}

long double stacked_slope(const Problem& problem, const Perturbed& a) {
  const Unpacked<Perturbed> u(a, problem);
  const Extents& e = problem.extents;
  const auto net = u.net();
  const auto trace = equations::cudnn_rnn_forward(a, net, RnnInputs<Perturbed>(u));
  return slope(equations::cudnn_rnn_output(a, net, trace), u.values("output_backprop")) +
         slope(trace.output_h, u.values("output_h_backprop")) +
         (e.lstm ? slope(trace.output_c, u.values("output_c_backprop")) : 0);
}

// The value of a saved activation as it is stored, but never 0, 1 or -1: there its gradient has a bound of 0, which no
// derivative computed with rounding errors meets.
double within_limits(backgauge_dtype dtype, double activation) {
  const FloatFormat format = float_format(dtype);
  const double size = std::clamp(std::fabs(round_to(dtype, activation)), format.least_normal, 1 - format.unit_roundoff);
  return std::copysign(size, activation);
}

void fill_plausible(Tensor& tensor, std::uint64_t seed) {
  const RandomStream stream(seed, tensor.name);
  for (std::size_t k = 0; k < tensor.values.size(); ++k) {
    tensor.values[k] = stream.normal(static_cast<std::int64_t>(k));
  }
}

}  // namespace

ForwardSlope::ForwardSlope(const Case& c, Problem problem) : problem_(std::move(problem)) {
  forward_ = problem_;
  const OpTraits& op = traits_of(c.op);
  if (!op.has_steps) {
    const Extents& e = problem_.extents;
    Tensor gates{kPreActivations, {e.B, 4 * e.H}, std::vector<double>(static_cast<std::size_t>(e.B * 4 * e.H))};
    fill_plausible(gates, c.seed);
    forward_.inputs.push_back(std::move(gates));
  } else if (!op.is_stacked) {
    fill_plausible(input(forward_, "b"), c.seed);
  }
  if (!op.is_stacked) save_forward();
  list_directions();
}

// Stores the rounded saved tensors of the forward in problem_, and the effect of rounding them in rounding_.
void ForwardSlope::save_forward() {
  const auto sequence = lstm_forward(Exact<double>(), forward_);
  Problem unrounded = problem_;
  using Saved = equations::LstmSaved<Plane<double>>;
  const auto save = [&](std::string_view name, const auto& plane_of_step) {
    if (problem_.find(name) == nullptr) return;
    // Elements that are not read keep their poison.
    const std::int64_t read = elements_read(problem_, name);
    double *exact = input(unrounded, name).values.data(), *stored = input(problem_, name).values.data();
    std::int64_t at = 0;
    for (std::size_t t = 0; t < sequence.saved.size(); ++t) {
      const Plane<double>& plane = plane_of_step(t);
      for (Index k = 0; k < plane.size() && at < read; ++k, ++at) {
        exact[at] = plane.data()[k];
        stored[at] = name == "cs" || name == "h" ? round_to(problem_.dtype, exact[at])
                                                 : within_limits(problem_.dtype, exact[at]);
      }
    }
  };
  for (const auto& [name, member] : {std::pair{"i", &Saved::i},
                                     {"cs", &Saved::cs},
                                     {"f", &Saved::f},
                                     {"o", &Saved::o},
                                     {"ci", &Saved::ci},
                                     {"co", &Saved::co}}) {
    save(name, [&, member = member](std::size_t t) -> const Plane<double>& { return sequence.saved[t].*member; });
  }
  save("h", [&](std::size_t t) -> const Plane<double>& { return sequence.h[t]; });
  rounding_ = oracle_values(problem_);
  const auto exact = oracle_values(unrounded);
  for (std::size_t t = 0; t < exact.size(); ++t) {
    for (std::size_t k = 0; k < exact[t].values.size(); ++k) rounding_[t].values[k] -= exact[t].values[k];
  }
}

void ForwardSlope::list_directions() {
  const Extents& e = problem_.extents;
  const auto add = [&](std::string name, std::string input, std::string gradient, const Selection& elements) {
    if (!elements.from.empty()) {
      directions_.push_back({std::move(name), std::move(input), std::move(gradient), elements.from});
    }
  };
  const auto add_tensor = [&](const std::string& name, const std::string& gradient) {
    const Tensor* tensor = forward_.find(name);
    if (tensor != nullptr) add(name, name, gradient, range(0, elements_read(problem_, name)));
  };
  const auto add_gates = [&](const std::string& name, const std::string& gradient) {
    const Shape& shape = forward_.find(name)->shape;
    for (std::int64_t gate = 0; gate < 4; ++gate) {
      add(name + " of gate " + std::to_string(gate), name, gradient,
          part(shape, shape.size() - 1, gate * e.H, (gate + 1) * e.H));
    }
  };
  if (const OpTraits& op = traits_of(problem_.op); !op.is_stacked) {
    add_tensor("cs_prev", "cs_prev_grad");
    for (const char* name : {"wci", "wcf", "wco"}) add_tensor(name, std::string(name) + "_grad");
    if (!op.has_steps) return add_gates(kPreActivations, "dicfo");
    add_tensor("x", "x_grad");
    add_tensor("h_prev", "h_prev_grad");
    add_gates("w", "w_grad");
    return add_gates("b", "b_grad");
  }
  for (const char* name : {"input", "input_h", "input_c"}) add_tensor(name, std::string(name) + "_backprop");
  const RnnParams layout = layout_of(problem_);
  for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
    Selection W, R, bW, bR;
    const auto append = [](Selection& to, std::int64_t begin, std::int64_t count) {
      const Selection more = range(begin, count);
      to.from.insert(to.from.end(), more.from.begin(), more.from.end());
    };
    for (std::int64_t layer = 0; layer < e.L; ++layer) {
      for (std::int64_t direction = 0; direction < e.D; ++direction) {
        append(W, layout.W(layer, direction, gate), e.H * layout.matrix_input(layer));
        append(R, layout.R(layer, direction, gate), e.H * e.H);
        append(bW, layout.bW(layer, direction, gate), e.H);
        append(bR, layout.bR(layer, direction, gate), e.H);
      }
    }
    for (const auto& [name, elements] : {std::pair{"W", &W}, {"R", &R}, {"bW", &bW}, {"bR", &bR}}) {
      add(std::string(name) + " of gate " + std::to_string(gate), "params", "params_backprop", *elements);
    }
  }
}

long double ForwardSlope::along(const Direction& direction, const std::vector<double>& step,
                                const std::vector<std::vector<std::uint8_t>>& keep) const {
  if (traits_of(problem_.op).is_stacked) {
    Problem masked = forward_;
    masked.keep = keep;
    return stacked_slope(masked, Perturbed(*masked.find(direction.input), step));
  }
  long double out = lstm_slope(forward_, Perturbed(*forward_.find(direction.input), step));
  for (const Tensor& tensor : rounding_) {
    if (tensor.name != direction.gradient) continue;
    for (std::size_t k = 0; k < step.size(); ++k) {
      out += static_cast<long double>(step[k]) * static_cast<long double>(tensor.values[k]);
    }
  }
  return out;
}

}  // namespace backgauge
