// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/one_unit_by_hand.h"

#include <cmath>
#include <map>
#include <stdexcept>

#include "properties/case/line/case.h"
#include "properties/case/line/random.h"
#include "properties/case/line/shaped_problem.h"

namespace backgauge {
namespace {

using Numbers = std::vector<long double>;
using Results = std::map<std::string, Numbers, std::less<>>;

class Hand {
 public:
  Hand(const Case& c, bool coarse) : c_(c), coarse_(coarse), problem_(shaped_problem(c)), stream_(c.seed, "by_hand") {}

  ByHand run() {
    const Results results = traits_of(c_.op).is_stacked ? stacked() : lstm();
    ByHand out{problem_, {}};
    for (const auto& [name, values] : results) {
      out.results.push_back({name, {}, values, std::vector<double>(values.size())});
    }
    return out;
  }

 private:
  double one_of(const std::vector<double>& values) {
    return values[static_cast<std::size_t>(stream_.choice(drawn_++, static_cast<std::int64_t>(values.size())))];
  }
  double signed_one_of(const std::vector<double>& values) { return one_of({-1, 1}) * one_of(values); }

  // Sets an input where the op has it.
  double set(std::string_view name, double value) {
    for (Tensor& tensor : problem_.inputs) {
      if (tensor.name == name) tensor.values = {value};
    }
    return value;
  }
  std::vector<double>& values_of(std::string_view name) {
    for (Tensor& tensor : problem_.inputs) {
      if (tensor.name == name) return tensor.values;
    }
    throw std::out_of_range("no input " + std::string(name));
  }

  // A gate. If coarse, all are 1/2: with 1/4 or 3/4, products of three would need more than 11 bits.
  double gate(std::string_view name) { return set(name, coarse_ ? 0.5 : one_of({0.25, 0.5, 0.75})); }
  static double slope(double s) { return s * (1 - s); }

  Results lstm() {
    const bool block = traits_of(c_.op).has_steps;
    const double i = gate("i"), f = gate("f"), o = gate("o");
    const double ci = set("ci", signed_one_of({0.5})), co = set("co", signed_one_of({0.5}));
    const double cs_prev = set("cs_prev", signed_one_of({0.5, 1})), cs = set("cs", signed_one_of({0.5, 1}));
    const double cs_grad = set("cs_grad", signed_one_of({1, 2})), h_grad = set("h_grad", signed_one_of({1, 2}));
    const double peephole = c_.use_peephole ? 1 : 0;
    const double wci = set("wci", signed_one_of({0.5})), wcf = set("wcf", signed_one_of({0.5}));
    const double wco = set("wco", signed_one_of({0.5}));
    const double x = set("x", signed_one_of({0.5, 1})), h_prev = set("h_prev", signed_one_of({0.5, 1}));
    values_of("b").assign(4, 0);
    set("h", o * co);
    set("seq_len_max", 1);

    const double dot = slope(o) * co * h_grad;
    const double dcs = 0.75 * o * h_grad + cs_grad + peephole * dot * wco;  // 1 - co^2 = 3/4
    const double di = slope(i) * ci * dcs, df = slope(f) * cs_prev * dcs, dci = 0.75 * i * dcs;
    Results out;
    const auto exact = [](double value) { return static_cast<long double>(value); };
    out["cs_prev_grad"] = {exact(f * dcs + peephole * (di * wci + df * wcf))};
    out["wci_grad"] = {exact(peephole * di * cs_prev)};
    out["wcf_grad"] = {exact(peephole * df * cs_prev)};
    out["wco_grad"] = {exact(peephole * dot * cs)};
    if (!block) {
      values_of("w").assign(8, 1);
      out["dicfo"] = {exact(di), exact(dci), exact(df), exact(dot)};
      return out;
    }
    const std::vector<double> gates{di, df, dci, dot};
    out["b_grad"].assign(gates.begin(), gates.end());
    std::vector<double>& w = values_of("w");
    w.clear();
    for (const auto& [name, entering] : {std::pair{"x_grad", x}, {"h_prev_grad", h_prev}}) {
      double gradient = 0;
      for (const double g : gates) {
        w.push_back(signed_one_of({0.5, 1}));
        gradient += g * w.back();
        out["w_grad"].push_back(static_cast<long double>(g * entering));
      }
      out[name] = {exact(gradient)};
    }
    return out;
  }

  // One gate of a stacked net: the weights of x and h, and the biases that bring its pre-activation to a given value.
  struct Gate {
    double W, R, bW, bR;
  };
  Gate gate_at(double pre_activation, double x, double h) {
    Gate g{signed_one_of({0.5, 1, 2}), signed_one_of({0.5, 1, 2}), 0, signed_one_of({0.5})};
    g.bW = pre_activation - g.W * x - g.R * h - g.bR;
    return g;
  }

  // params_backprop: gradients of W x + bW and R h + bR of every gate.
  static Numbers params_gradient(const Numbers& input_side, const Numbers& recurrent_side, long double x,
                                 long double h) {
    Numbers out;
    for (const long double d : input_side) out.push_back(d * x);
    for (const long double d : recurrent_side) out.push_back(d * h);
    out.insert(out.end(), input_side.begin(), input_side.end());
    out.insert(out.end(), recurrent_side.begin(), recurrent_side.end());
    return out;
  }

  Results stacked() {
    const double x = set("input", signed_one_of({0.5, 1})), h = set("input_h", signed_one_of({0.5, 1, 2}));
    const auto from_above = [this](std::string_view name, const std::vector<double>& sizes) {
      return static_cast<long double>(set(name, signed_one_of(sizes)));
    };
    const long double dh = from_above("output_backprop", {1, 2}) + from_above("output_h_backprop", {0.5, 4});
    std::vector<Gate> gates;
    Numbers input_side, recurrent_side;
    long double state = 0, direct = 0;
    Results out;
    switch (c_.rnn_mode) {
      case BACKGAUGE_RNN_RELU: {
        const double a = signed_one_of({0.5, 1});
        gates = {gate_at(a, x, h)};
        state = static_cast<long double>(a > 0 ? a : 0);
        input_side = recurrent_side = {a > 0 ? dh : 0};
        break;
      }
      case BACKGAUGE_RNN_TANH: {
        const double a = signed_one_of({0.5, 1});
        gates = {gate_at(a, x, h)};
        state = std::tanh(static_cast<long double>(a));
        input_side = recurrent_side = {(1 - state * state) * dh};
        break;
      }
      case BACKGAUGE_LSTM: {  // i = f = o = 1/2, n = 0
        for (int g = 0; g < 4; ++g) gates.push_back(gate_at(0, x, h));
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
        gates = {gate_at(0, x, h), gate_at(0, x, h), gate_at(0, x, h)};
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
    std::vector<double>& params = values_of("params");
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

  const Case& c_;
  const bool coarse_;
  Problem problem_;
  const RandomStream stream_;
  std::int64_t drawn_ = 0;
};

}  // namespace

ByHand one_unit_by_hand(const Case& c, bool coarse) { return Hand(c, coarse).run(); }

}  // namespace backgauge
