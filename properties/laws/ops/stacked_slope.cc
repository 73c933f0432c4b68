// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/complex_step.h"
#include "properties/laws/ops/stacked.h"
#include "properties/laws/subnet.h"
#include "reference/rounding_model.h"

namespace backgauge::law_ops {
namespace {

long double slope_of(const Problem& problem, const Perturbed& a) {
  const Unpacked<Perturbed> u(a, problem);
  const Extents& e = problem.extents;
  const auto net = u.net();
  const auto trace = equations::cudnn_rnn_forward(a, net, RnnInputs<Perturbed>(u));
  return derivative(equations::cudnn_rnn_output(a, net, trace), u.values("output_backprop")) +
         derivative(trace.output_h, u.values("output_h_backprop")) +
         (e.lstm ? derivative(trace.output_c, u.values("output_c_backprop")) : 0);
}

class StackedSlope : public ForwardSlope {
 public:
  explicit StackedSlope(Problem problem) : ForwardSlope(std::move(problem)) {
    const Extents& e = problem_.extents;
    for (const char* name : {"input", "input_h", "input_c"}) add_tensor(name, std::string(name) + "_backprop");
    const RnnParams layout = layout_of(problem_);
    for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
      std::vector<std::size_t> W, R, bW, bR;
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

  long double along(const Direction& direction, const std::vector<double>& step,
                    const std::vector<std::vector<std::uint8_t>>& keep, const Declared& declared) const override {
    Problem masked = forward_;
    masked.keep = keep;
    const bool slope_at_zero = rounding_model(masked, declared).relu_passes(0);
    return slope_of(masked, Perturbed(*masked.find(direction.input), step, slope_at_zero));
  }
};

}  // namespace

std::unique_ptr<ForwardSlope> stacked_slope(const Case&, Problem problem) {
  return std::make_unique<StackedSlope>(std::move(problem));
}

}  // namespace backgauge::law_ops
