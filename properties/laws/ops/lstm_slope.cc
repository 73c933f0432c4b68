// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "properties/case/line/random.h"
#include "properties/laws/complex_step.h"
#include "properties/laws/ops/lstm.h"
#include "properties/laws/transform.h"
#include "reference/contract/storage.h"
#include "reference/oracle.h"

namespace backgauge::law_ops {
namespace {

constexpr const char* kPreActivations = "pre_activations";  // of the cell: [B, 4H], gates i, c, f, o

// The forward over the steps that are read.
template <class A, class M = typename A::Matrix>
equations::BlockLstmSequence<M> lstm_forward(const A& a, const Problem& problem) {
  const Unpacked<A> u(a, problem);
  const Extents& e = problem.extents;
  const equations::Peepholes<M> peepholes = e.peephole ? u.peepholes() : equations::Peepholes<M>{};
  const equations::Peepholes<M>* p = e.peephole ? &peepholes : nullptr;
  equations::BlockLstmSequence<M> out;
  out.cs_prev = u.matrix("cs_prev", e.B, e.H);
  if (problem.find(kPreActivations) != nullptr) {
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

long double lstm_slope(const Problem& problem, const Perturbed& a) {
  const auto sequence = lstm_forward(a, problem);
  std::vector<Plane<Complex>> cs;
  for (const auto& saved : sequence.saved) cs.push_back(saved.cs);
  return derivative(sequence.h, problem.find("h_grad")->values.data()) +
         derivative(cs, problem.find("cs_grad")->values.data());
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

// The saved tensors of the problem are replaced by those of the forward. The derivative is that of the forward as it
// would be with the saved tensors as they are stored. That correction comes from the oracle; it is as small as a
// rounding, so an error in the oracle's equations changes it very little.
class LstmSlope : public ForwardSlope {
 public:
  using ForwardSlope::ForwardSlope;

  long double along(const Direction& direction, const std::vector<double>& step,
                    const std::vector<std::vector<std::uint8_t>>&, const Declared&) const override {
    long double out = lstm_slope(forward_, Perturbed(*forward_.find(direction.input), step));
    for (const Tensor& tensor : rounding_) {
      if (tensor.name != direction.gradient) continue;
      for (std::size_t k = 0; k < step.size(); ++k) {
        out += static_cast<long double>(step[k]) * static_cast<long double>(tensor.values[k]);
      }
    }
    return out;
  }

 protected:
  // Stores the rounded saved tensors of the forward in problem_, and the effect of rounding them in rounding_.
  void save_forward() {
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

  void add_states_and_peepholes() {
    add_tensor("cs_prev", "cs_prev_grad");
    for (const char* name : {"wci", "wcf", "wco"}) add_tensor(name, std::string(name) + "_grad");
  }

  void add_gates(const std::string& name, const std::string& gradient) {
    const Shape& shape = forward_.find(name)->shape;
    const std::int64_t H = problem_.extents.H;
    for (std::int64_t gate = 0; gate < 4; ++gate) {
      add(name + " of gate " + std::to_string(gate), name, gradient,
          part(shape, shape.size() - 1, gate * H, (gate + 1) * H).from);
    }
  }

 private:
  std::vector<Tensor> rounding_;  // change of the oracle's gradients when the saved tensors are rounded
};

struct CellSlope : LstmSlope {
  CellSlope(const Case& c, Problem problem) : LstmSlope(std::move(problem)) {
    const Extents& e = problem_.extents;
    Tensor gates{kPreActivations, {e.B, 4 * e.H}, std::vector<double>(static_cast<std::size_t>(e.B * 4 * e.H))};
    fill_plausible(gates, c.seed);
    forward_.inputs.push_back(std::move(gates));
    save_forward();
    add_states_and_peepholes();
    add_gates(kPreActivations, "dicfo");
  }
};

struct BlockSlope : LstmSlope {
  BlockSlope(const Case& c, Problem problem) : LstmSlope(std::move(problem)) {
    fill_plausible(input(forward_, "b"), c.seed);
    save_forward();
    add_states_and_peepholes();
    add_tensor("x", "x_grad");
    add_tensor("h_prev", "h_prev_grad");
    add_gates("w", "w_grad");
    add_gates("b", "b_grad");
  }
};

}  // namespace

std::unique_ptr<ForwardSlope> cell_slope(const Case& c, Problem problem) {
  return std::make_unique<CellSlope>(c, std::move(problem));
}

std::unique_ptr<ForwardSlope> block_slope(const Case& c, Problem problem) {
  return std::make_unique<BlockSlope>(c, std::move(problem));
}

}  // namespace backgauge::law_ops
