// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "properties/laws/ops/stacked.h"

namespace backgauge::law_ops {
namespace {

// One gate of a stacked net: the weights of x and h, and the biases that bring its pre-activation to a given value.
struct Gate {
  double W, R, bW, bR;
};
Gate gate_at(OneUnit& unit, double pre_activation, double x, double h) {
  const auto signed_one_of = [&](const std::vector<double>& values) { return unit.signed_one_of(values); };
  Gate g{signed_one_of({0.5, 1, 2}), signed_one_of({0.5, 1, 2}), 0, signed_one_of({0.5})};
  g.bW = pre_activation - g.W * x - g.R * h - g.bR;
  return g;
}

// params_backprop: gradients of W x + bW and R h + bR of every gate.
Numbers params_gradient(const Numbers& input_side, const Numbers& recurrent_side, long double x, long double h) {
  Numbers out;
  for (const long double d : input_side) out.push_back(d * x);
  for (const long double d : recurrent_side) out.push_back(d * h);
  out.insert(out.end(), input_side.begin(), input_side.end());
  out.insert(out.end(), recurrent_side.begin(), recurrent_side.end());
  return out;
}

}  // namespace

Results stacked_by_hand(OneUnit& unit) {
  const auto set = [&](std::string_view name, double value) { return unit.set(name, value); };
  const auto signed_one_of = [&](const std::vector<double>& values) { return unit.signed_one_of(values); };
  const double x = set("input", signed_one_of({0.5, 1})), h = set("input_h", signed_one_of({0.5, 1, 2}));
  const auto from_above = [&](std::string_view name, const std::vector<double>& sizes) {
    return static_cast<long double>(set(name, signed_one_of(sizes)));
  };
  const long double dh = from_above("output_backprop", {1, 2}) + from_above("output_h_backprop", {0.5, 4});
  std::vector<Gate> gates;
  Numbers input_side, recurrent_side;
  long double state = 0, direct = 0;
  Results out;
  switch (unit.settings().rnn_mode) {
    case BACKGAUGE_RNN_RELU: {
      const double a = signed_one_of({0.5, 1});
      gates = {gate_at(unit, a, x, h)};
      state = static_cast<long double>(a > 0 ? a : 0);
      input_side = recurrent_side = {a > 0 ? dh : 0};
      break;
    }
    case BACKGAUGE_RNN_TANH: {
      const double a = signed_one_of({0.5, 1});
      gates = {gate_at(unit, a, x, h)};
      state = std::tanh(static_cast<long double>(a));
      input_side = recurrent_side = {(1 - state * state) * dh};
      break;
    }
    case BACKGAUGE_LSTM: {  // i = f = o = 1/2, n = 0
      for (int g = 0; g < 4; ++g) gates.push_back(gate_at(unit, 0, x, h));
      const long double c = from_above("input_c", {0.5, 1, 2}), dc = from_above("output_c_backprop", {1, 2});
      const long double co = std::tanh(c / 2);
      const long double dcs = (1 - co * co) * dh / 2 + dc;
      state = co / 2;
      out["output_c"] = {c / 2};
      out["input_c_backprop"] = {dcs / 2};
      input_side = recurrent_side = {0, dcs * c / 4, dcs / 2, dh * co / 4};
      break;
    }
    case BACKGAUGE_GRU: {  // r = z = 1/2, n = 0
      gates = {gate_at(unit, 0, x, h), gate_at(unit, 0, x, h), gate_at(unit, 0, x, h)};
      Gate& n = gates[2];
      const double n_of_h = n.R * h + n.bR;
      n.bW = -n.W * x - n_of_h / 2;
      const auto hn = static_cast<long double>(n_of_h), h_prev = static_cast<long double>(h);
      const long double dn = dh / 2, dz = dh * h_prev / 4, dr = dn * hn / 4;
      state = h_prev / 2;
      direct = dh / 2;
      input_side = {dr, dz, dn};
      recurrent_side = {dr, dz, dn / 2};
      break;
    }
  }
  std::vector<double>& params = unit.values_of("params");
  params.clear();
  for (double Gate::*member : {&Gate::W, &Gate::R, &Gate::bW, &Gate::bR}) {
    for (const Gate& g : gates) params.push_back(g.*member);
  }
  long double dx = 0, dh_prev = direct;
  for (std::size_t g = 0; g < gates.size(); ++g) {
    dx += static_cast<long double>(gates[g].W) * input_side[g];
    dh_prev += static_cast<long double>(gates[g].R) * recurrent_side[g];
  }
  out["output"] = out["output_h"] = {state};
  out["input_backprop"] = {dx};
  out["input_h_backprop"] = {dh_prev};
  out["params_backprop"] =
      params_gradient(input_side, recurrent_side, static_cast<long double>(x), static_cast<long double>(h));
  return out;
}

}  // namespace backgauge::law_ops
