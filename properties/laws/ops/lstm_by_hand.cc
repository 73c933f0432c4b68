// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "properties/laws/ops/lstm.h"

namespace backgauge::law_ops {
namespace {

// A gate. If coarse, all are 1/2: with 1/4 or 3/4, products of three would need more than 11 bits.
double draw_gate(OneUnit& unit, std::string_view name) {
  return unit.set(name, unit.coarse() ? 0.5 : unit.one_of({0.25, 0.5, 0.75}));
}
double slope(double s) { return s * (1 - s); }

}  // namespace

Results lstm_by_hand(OneUnit& unit) {
  const auto gate = [&](std::string_view name) { return draw_gate(unit, name); };
  const auto set = [&](std::string_view name, double value) { return unit.set(name, value); };
  const auto signed_one_of = [&](const std::vector<double>& values) { return unit.signed_one_of(values); };
  const double i = gate("i"), f = gate("f"), o = gate("o");
  const double ci = set("ci", signed_one_of({0.5})), co = set("co", signed_one_of({0.5}));
  const double cs_prev = set("cs_prev", signed_one_of({0.5, 1})), cs = set("cs", signed_one_of({0.5, 1}));
  const double cs_grad = set("cs_grad", signed_one_of({1, 2})), h_grad = set("h_grad", signed_one_of({1, 2}));
  const double peephole = unit.settings().use_peephole ? 1 : 0;
  const double wci = set("wci", signed_one_of({0.5})), wcf = set("wcf", signed_one_of({0.5}));
  const double wco = set("wco", signed_one_of({0.5}));
  const double x = set("x", signed_one_of({0.5, 1})), h_prev = set("h_prev", signed_one_of({0.5, 1}));
  unit.values_of("b").assign(4, 0);
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
  if (unit.problem().find("seq_len_max") == nullptr) {  // of the cell, dicfo is the last result
    unit.values_of("w").assign(8, 1);
    out["dicfo"] = {exact(di), exact(dci), exact(df), exact(dot)};
    return out;
  }
  const std::vector<double> gates{di, df, dci, dot};
  out["b_grad"].assign(gates.begin(), gates.end());
  std::vector<double>& w = unit.values_of("w");
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

}  // namespace backgauge::law_ops
