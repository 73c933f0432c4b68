// SPDX-License-Identifier: Apache-2.0
// The implementation computes the forward pass, so states can only be influenced: by weights with the usual gains, and
// for relu by rows that keep states from growing and pre-activations either exactly 0 or away from 0 (README.md, data
// profiles).
#include <algorithm>
#include <cmath>
#include <string_view>

#include "properties/case/draw/ops/cudnn.h"
#include "properties/case/line/shaped_problem.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::draw_ops {
namespace {

// Scales of the layers, repeated, so that adjacent layers differ.
constexpr double kLayerScale[3] = {1, 1.3, 0.75};

// A bias that saturates its gate in every dtype: 1 - sigmoid(40) = 4e-18, below half an ulp of 1 in double.
constexpr double kSaturatingBias = 40;

class CudnnDraw {
 public:
  CudnnDraw(const Crew& crew, const Case& c, const DrawRules& rules, Problem& problem)
      : crew_(crew),
        c_(c),
        rules_(rules),
        problem_(problem),
        layout_(rnn_params(problem.attributes, c.I, c.H, c.layers)),
        relu_(c.rnn_mode == BACKGAUGE_RNN_RELU),
        // In 16 bits, a rounding easily crosses 0, where relu's derivative jumps.
        signed_units_(relu_ && (is_narrow(c.dtype) || RandomStream(c.seed, "signed_units").choice(0, 2) == 0)) {}

  void run() {
    draw_states();
    draw_params();
    if (relu_) shape_relu();
    for (Tensor& tensor : problem_.inputs) {
      if (is_upstream(spec_of(c_.op, tensor).role)) fill_upstream(crew_, c_, rules_, tensor);
    }
    if (const Structure* structure = structure_of(c_)) {
      Draft draft(c_, problem_);
      structure->impose(draft);
    }
    for (Tensor& tensor : problem_.inputs) finish(crew_, c_, tensor);
  }

 private:
  Tensor& at(std::string_view name) {
    return *std::ranges::find(problem_.inputs, name,
                              [](const Tensor& tensor) { return std::string_view(tensor.name); });
  }

  void draw_states() {
    const bool large = c_.data == DataProfile::kLarge, lstm = c_.rnn_mode == BACKGAUGE_LSTM;
    fill_normal(crew_, c_, at("input"), 1);
    fill_bounded(crew_, c_, at("input_h"), 1);
    if (lstm) fill_normal(crew_, c_, at("input_c"), 1);
    if (large) fill_large_states(crew_, c_, at(lstm ? "input_c" : "input_h"));
  }

  // Calls visit(layer, direction, gate) for every block.
  template <class Visit>
  void for_blocks(Visit visit) {
    for (std::int64_t layer = 0; layer < layout_.layers; ++layer) {
      for (std::int64_t direction = 0; direction < layout_.directions; ++direction) {
        for (std::int64_t gate = 0; gate < layout_.gates; ++gate) visit(layer, direction, gate);
      }
    }
  }

  void scale(std::int64_t offset, std::int64_t count, double factor) {
    double* values = at("params").values.data() + offset;
    crew_.over(static_cast<std::size_t>(count), [&](std::size_t first, std::size_t last) {
      std::for_each(values + first, values + last, [&](double& value) { value *= factor; });
    });
  }

  void draw_params() {
    Tensor& params = at("params");
    fill_normal(crew_, c_, params, 1);
    const std::int64_t H = c_.H;
    // Inputs and biases cause the saturation: a large recurrent gain would make the net chaotic.
    const double recurrent_gain = c_.data == DataProfile::kSaturated ? 1.2 : rules_.gain;
    for_blocks([&](std::int64_t layer, std::int64_t direction, std::int64_t gate) {
      const std::int64_t width = layout_.matrix_input(layer);
      const double block = kGateScale[gate] * kLayerScale[layer % 3];
      const double fan_in = std::sqrt(static_cast<double>(layout_.layer_input(layer) + H) * rules_.density);
      const std::int64_t W = layout_.W(layer, direction, gate), R = layout_.R(layer, direction, gate);
      scale(W, H * width, block * rules_.gain / fan_in);
      scale(R, H * H, block * recurrent_gain / fan_in);
      thin_out(crew_, c_, rules_.density, params, W, H * width);
      thin_out(crew_, c_, rules_.density, params, R, H * H);
      const bool forget = c_.rnn_mode == BACKGAUGE_LSTM && gate == 1 && rules_.forget_bias;
      for (const std::int64_t offset : {layout_.bW(layer, direction, gate), layout_.bR(layer, direction, gate)}) {
        scale(offset, H, kGateScale[gate] * rules_.bias);
      }
      double* bias = params.values.data() + layout_.bW(layer, direction, gate);
      if (forget) std::for_each(bias, bias + H, [](double& value) { value += 1; });
      if (c_.data == DataProfile::kSaturated && !relu_) saturate(layout_.bW(layer, direction, gate));
    });
  }

  // One unit in four, to either end.
  void saturate(std::int64_t offset) {
    const RandomStream which(c_.seed, "saturated_unit"), sign(c_.seed, "saturated_unit/sign");
    for (std::int64_t k = offset; k < offset + c_.H; ++k) {
      if (which.choice(k, 4) == 0) at("params").values[k] = kSaturatingBias * sign.sign(k);
    }
  }

  // 0: dead, with all weights and biases 0, so that its pre-activation is exactly 0. With signed units 1 or -1: all
  // terms of its pre-activation have this sign, so it is at least as far from 0 as its biases. Unit 0 is never dead.
  double unit_sign(std::int64_t layer, std::int64_t unit) const {
    const std::int64_t which = RandomStream(c_.seed, "relu_unit").choice(layer * c_.H + unit, 8);
    return unit == 0 || which > 2 ? 1 : which == 0 ? 0 : -1;
  }

  double shaped(double value, double sign) const {
    if (sign == 0) return 0;
    return signed_units_ ? sign * std::fabs(value) : value;
  }

  void shape_relu() {
    double* params = at("params").values.data();
    const RandomStream radius(c_.seed, "recurrent_row");
    for_blocks([&](std::int64_t layer, std::int64_t direction, std::int64_t gate) {
      const std::int64_t H = c_.H, width = layout_.matrix_input(layer);
      const auto shape_unit = [&](std::int64_t unit) {
        const double sign = unit_sign(layer, unit);
        double* w = params + layout_.W(layer, direction, gate) + unit * width;
        double* r = params + layout_.R(layer, direction, gate) + unit * H;
        // Terms of one sign add up to fan-in times one of them, and not to its square root.
        const double narrowing =
            signed_units_ ? 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(width, 1))) : 1;
        for (std::int64_t k = 0; k < width; ++k) w[k] = shaped(w[k] * narrowing, sign);
        // The absolute sum of a row bounds the spectral radius; with at most 0.9, states stay below 10 times the input.
        double sum = 0;
        for (std::int64_t k = 0; k < H; ++k) sum += std::fabs(r[k]);
        const double target = 0.5 + 0.4 * radius.uniform((layer * layout_.directions + direction) * H + unit);
        for (std::int64_t k = 0; k < H && sum > 0; ++k) r[k] = shaped(r[k] / sum * target, sign);
        for (const std::int64_t offset : {layout_.bW(layer, direction, gate), layout_.bR(layer, direction, gate)}) {
          double& bias = params[offset + unit];
          bias = shaped(signed_units_ ? std::fabs(bias) + 0.05 : bias, sign);
        }
      };
      // A unit has some H weights in each matrix.
      const std::size_t piece = Crew::kPiece / static_cast<std::size_t>(std::max<std::int64_t>(H + width, 1)) + 1;
      crew_.over(
          static_cast<std::size_t>(H),
          [&](std::size_t first, std::size_t last) {
            for (std::size_t unit = first; unit < last; ++unit) shape_unit(static_cast<std::int64_t>(unit));
          },
          piece);
    });
    if (signed_units_) {
      each_value(crew_, at("input_h"), [](std::size_t, double& value) { value = std::fabs(value); });
    }
    shape_relu_input();
  }

  // Inputs that are multiplied by W are made positive; with skip_input they are terms of the pre-activation themselves.
  void shape_relu_input() {
    each_value(crew_, at("input"), [&](std::size_t k, double& value) {
      value = shaped(value, layout_.skip_input ? unit_sign(0, static_cast<std::int64_t>(k) % c_.I) : 1);
    });
  }

  const Crew& crew_;
  const Case& c_;
  const DrawRules& rules_;
  Problem& problem_;
  const RnnParams layout_;
  const bool relu_, signed_units_;
};

}  // namespace

void draw_cudnn_inputs(const Crew& crew, const Case& c, const DrawRules& rules, Problem& problem, DataFacts&) {
  CudnnDraw(crew, c, rules, problem).run();
}

}  // namespace backgauge::draw_ops
