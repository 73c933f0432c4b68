// SPDX-License-Identifier: Apache-2.0
#include "properties/explain/hint_terms.h"

#include <functional>

namespace backgauge {
namespace {

using Selects = std::function<bool(std::size_t element)>;

void add_place(std::vector<Term>& terms, const Wanted& wanted, std::string name, const Selects& selects) {
  Term term{std::move(name), Values64(wanted.value.size())};
  for (std::size_t k = 0; k < wanted.value.size(); ++k) {
    if (selects(k)) term.values[k] = static_cast<double>(wanted.value[k]);
  }
  terms.push_back(std::move(term));
}

// Gradients of one cell in double, [B, H] each, and where they come from.
struct Cell {
  explicit Cell(const Problem& problem)
      : B(static_cast<std::size_t>(problem.extents.B)),
        H(static_cast<std::size_t>(problem.extents.H)),
        peephole(problem.attributes.use_peephole != 0),
        problem_(problem) {}

  double at(const char* name, std::size_t k) const { return problem_.find(name)->values[k]; }
  double weight(const char* name, std::size_t k) const { return peephole ? problem_.find(name)->values[k % H] : 0; }

  double d_o(std::size_t k) const { return at("o", k) * (1 - at("o", k)) * at("h_grad", k) * at("co", k); }
  double through_co(std::size_t k) const { return (1 - at("co", k) * at("co", k)) * at("h_grad", k) * at("o", k); }
  double dcs(std::size_t k) const { return through_co(k) + at("cs_grad", k) + d_o(k) * weight("wco", k); }
  double slope_i(std::size_t k) const { return at("i", k) * (1 - at("i", k)) * at("ci", k); }
  double slope_f(std::size_t k) const { return at("f", k) * (1 - at("f", k)) * at("cs_prev", k); }
  double slope_ci(std::size_t k) const { return (1 - at("ci", k) * at("ci", k)) * at("i", k); }

  std::size_t B, H;
  bool peephole;

 private:
  const Problem& problem_;
};

}  // namespace

std::vector<Term> places_of(const Problem& problem, const Wanted& wanted) {
  std::vector<Term> terms;
  const Extents& e = problem.extents;
  const OpTraits& op = traits_of(problem.op);
  const Shape& shape = wanted.shape;
  if (shape.empty() || wanted.value.empty()) return terms;
  const auto columns = static_cast<std::size_t>(shape.back());
  const auto H = static_cast<std::size_t>(e.H);
  if (!op.is_stacked && columns == 4 * H) {
    const bool cell = op.gates == "icfo";
    const char* const names[] = {"gate i", cell ? "gate ci" : "gate f", cell ? "gate f" : "gate ci", "gate o"};
    for (std::size_t gate = 0; gate < 4; ++gate) {
      add_place(terms, wanted, names[gate], [=](std::size_t k) { return k % columns / H == gate; });
    }
  }
  if (wanted.name == "w_grad") {
    const std::size_t of_x = static_cast<std::size_t>(e.I) * columns;
    if (e.I > 0) add_place(terms, wanted, "x rows", [=](std::size_t k) { return k < of_x; });
    add_place(terms, wanted, "h rows", [=](std::size_t k) { return k >= of_x; });
  } else if (shape.size() > 1 && shape[0] > 1) {
    const std::size_t row = wanted.value.size() / static_cast<std::size_t>(shape[0]), size = wanted.value.size();
    const std::string noun = shape[0] == e.T && shape.size() == 3 ? "step" : "row";
    add_place(terms, wanted, "first " + noun, [=](std::size_t k) { return k < row; });
    add_place(terms, wanted, "last " + noun, [=](std::size_t k) { return k >= size - row; });
  }
  return terms;
}

std::vector<Term> cell_terms_of(const Problem& problem, const Wanted& wanted) {
  std::vector<Term> terms;
  if (traits_of(problem.op).has_steps) return terms;
  const Cell cell(problem);
  const auto add = [&](const char* name, const std::function<double(std::size_t)>& value) {
    Term term{name, Values64(wanted.value.size())};
    for (std::size_t k = 0; k < cell.B * cell.H; ++k) term.values[k] = value(k);
    terms.push_back(std::move(term));
  };
  // Through dcs into gates i, ci and f of dicfo.
  const auto add_to_gates = [&](const char* name, const std::function<double(std::size_t)>& part) {
    Term term{name, Values64(wanted.value.size())};
    for (std::size_t k = 0; k < cell.B * cell.H; ++k) {
      double* row = &term.values[k / cell.H * 4 * cell.H + k % cell.H];
      row[0] = part(k) * cell.slope_i(k);
      row[cell.H] = part(k) * cell.slope_ci(k);
      row[2 * cell.H] = part(k) * cell.slope_f(k);
    }
    terms.push_back(std::move(term));
  };
  if (wanted.name == "cs_prev_grad") {
    add("cs_grad * f", [&](std::size_t k) { return cell.at("cs_grad", k) * cell.at("f", k); });
    add("h_grad * o * (1 - co^2) * f", [&](std::size_t k) { return cell.through_co(k) * cell.at("f", k); });
  }
  if (wanted.name == "cs_prev_grad" && cell.peephole) {
    add("dcs * f", [&](std::size_t k) { return cell.dcs(k) * cell.at("f", k); });
    add("do * wco * f", [&](std::size_t k) { return cell.d_o(k) * cell.weight("wco", k) * cell.at("f", k); });
    add("di * wci", [&](std::size_t k) { return cell.dcs(k) * cell.slope_i(k) * cell.weight("wci", k); });
    add("df * wcf", [&](std::size_t k) { return cell.dcs(k) * cell.slope_f(k) * cell.weight("wcf", k); });
  }
  if (wanted.name == "dicfo") {
    add_to_gates("cs_grad", [&](std::size_t k) { return cell.at("cs_grad", k); });
    add_to_gates("h_grad * o * (1 - co^2)", [&](std::size_t k) { return cell.through_co(k); });
    if (cell.peephole) {
      add_to_gates("do * wco", [&](std::size_t k) { return cell.d_o(k) * cell.weight("wco", k); });
    }
  }
  return terms;
}

}  // namespace backgauge
