// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/named_terms.h"

#include <algorithm>
#include <array>
#include <utility>

namespace backgauge {
namespace {

// The name of concatenated parts: "di.." if they have different names.
std::string name_of(const std::vector<const Named*>& parts) {
  const std::string& first = parts.front()->name;
  const bool same = std::ranges::all_of(parts, [&](const Named* part) { return part->name == first; });
  return same || first.ends_with("..") ? first : first + "..";
}

// The name of a sum, derived from its first term.
std::string sum_name(std::span<const Named* const> terms) {
  const std::string& first = terms.front()->name;
  if (first == "dco") return "dcs";
  if (terms.back()->name == "cs_grad") return "cs_grad+dcs'";
  if (first == "dcs f") return "dcs'";
  if (first == "dh'" || first == "output_h_backprop") return "dh";
  return first == "input" ? "a" : first == "i n" ? "cs" : first + "+..";
}

std::string product_name(std::span<const Named* const> factors) {
  std::string out;
  for (const Named* factor : factors) {
    const std::string& name = factor->name;
    if (name == "0") return name;
    if (name == "mask") continue;  // multiplication by a dropout mask does not change the name
    if (name == "h'") return "da";
    if (name.ends_with("'") && !name.starts_with("d")) return "d" + name.substr(0, name.size() - 1);
    out += (out.empty() ? "" : " ") + name;
  }
  return out == "o co" ? "h" : out;
}

// The name of a matrix product; its operands show in which equation it occurs.
std::string matmul_name(const Named& x, const Named& y) {
  if (!x.name.starts_with("d")) return "a";
  return y.name.starts_with("W") || y.name == "w[x]" ? "dx" : "dh'";
}

std::vector<const Bounded<double>*> bounds_of(std::span<const Named* const> parts) {
  std::vector<const Bounded<double>*> out;
  for (const Named* part : parts) out.push_back(&part->b);
  return out;
}

// The step that row block `k` of `count` belongs to.
std::string step_name(std::size_t k, std::size_t count) {
  return k == 0 ? "first step: " : k + 1 == count ? "last step: " : "step between: ";
}

// The terms of x y: of the concatenated columns of x, or of the steps whose rows are stacked. A sum over the batch of
// one step has none.
std::vector<NamedTerms::Term> block_terms(const Named& x, const Named& y) {
  const std::vector<NamedPart> whole = {{x.name, x.cols()}};
  const std::vector<NamedPart>& parts = x.beside.empty() ? whole : x.beside;
  std::vector<NamedTerms::Term> out;
  if (x.transposed && parts.size() == 1) return out;
  Index begin = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Index count = parts[k].count;
    const std::string& right = !x.transposed && y.below.size() == parts.size() ? y.below[k].name : y.name;
    const std::string name = parts[k].name == "1" ? right : parts[k].name + " " + right;
    const Plane<double> x_part = x.b.v.middleCols(begin, count), y_part = y.b.v.middleRows(begin, count);
    out.push_back({(x.transposed ? step_name(k, parts.size()) : "") + name, plane_product<double>(x_part, y_part)});
    begin += count;
  }
  return out;
}

}  // namespace

NamedTerms::NamedTerms(const RoundingModel& model, const Problem& problem, OnSum on_sum)
    : bound_(model),
      problem_(problem),
      params_(rnn_params(problem.attributes, problem.extents.I, problem.extents.H, problem.extents.L)),
      on_sum_(std::move(on_sum)) {}

Named NamedTerms::input(const double* values, Index rows, Index cols) const {
  Matrix out{bound_.input(values, rows, cols), "?"};
  for (const Tensor& tensor : problem_.inputs) {
    const double* begin = tensor.values.data();
    if (values < begin || values >= begin + tensor.values.size()) continue;
    out.name = tensor.name;
    if (tensor.name != "params") break;
    // Matrices of a pseudo-layer have as many rows as it has gates times units, biases have one.
    const std::int64_t offset = values - begin;
    const bool is_bias = offset >= params_.matrices();
    for (std::int64_t layer = 0; layer < params_.layers; ++layer) {
      for (std::int64_t direction = 0; direction < params_.directions; ++direction) {
        if (offset == (is_bias ? params_.bW(layer, direction, 0) : params_.W(layer, direction, 0))) {
          out.name = is_bias ? "bW" : "W";
        }
        if (offset == (is_bias ? params_.bR(layer, direction, 0) : params_.R(layer, direction, 0))) {
          out.name = is_bias ? "bR" : "R";
        }
      }
    }
  }
  return out;
}

// Zeros are not terms: a carried gradient before the last step is one.
void NamedTerms::report(std::vector<Term> terms, Bounded<double>& sum) const {
  std::erase_if(terms, [](const Term& term) { return term.name.starts_with("0") || term.name.ends_with(" 0"); });
  if (!terms.empty()) on_sum_(terms, sum);
}

Named NamedTerms::sum_of(std::span<const Matrix* const> terms) const {
  Matrix out{bound_.sum(bounds_of(terms)), sum_name(terms)};
  std::vector<Term> reported;
  for (const Matrix* term : terms) reported.push_back({term->name, term->b.v});
  report(std::move(reported), out.b);
  return out;
}

Named NamedTerms::product_of(std::span<const Matrix* const> factors) const {
  const Matrix& first = *factors.front();
  return {bound_.product(bounds_of(factors)), product_name(factors), first.beside, first.below};
}

Named NamedTerms::difference(const Matrix& x, const Matrix& y) const {
  const Matrix subtracted = negative(y);
  Matrix out{bound_.difference(x.b, y.b), sum_name(std::array{&x, &subtracted})};
  report({{x.name, x.b.v}, {subtracted.name, subtracted.b.v}}, out.b);
  return out;
}

Named NamedTerms::matmul(const Matrix& x, const Matrix& y) const {
  Matrix out{bound_.matmul(x.b, y.b), matmul_name(x, y)};
  report(block_terms(x, y), out.b);
  return out;
}

Named NamedTerms::add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
  Matrix out{bound_.add_matmul(c.b, x.b, y.b), matmul_name(x, y)};
  std::vector<Term> terms = block_terms(x, y);
  terms.push_back({c.name, c.b.v});
  report(std::move(terms), out.b);
  return out;
}

Named NamedTerms::column_sums(const Matrix& x) const {
  Matrix out{bound_.column_sums(x.b), x.name};
  std::vector<Term> steps;
  Index begin = 0;
  for (std::size_t k = 0; x.below.size() > 1 && k < x.below.size(); ++k) {
    steps.push_back({step_name(k, x.below.size()) + x.name, x.b.v.middleRows(begin, x.below[k].count).colwise().sum()});
    begin += x.below[k].count;
  }
  report(std::move(steps), out.b);
  return out;
}

// In a stacked net: the tanh of the third gate, of a state, or the state itself.
Named NamedTerms::tanh(const Matrix& x) const {
  const bool gru = problem_.attributes.rnn_mode == BACKGAUGE_GRU, lstm = problem_.attributes.rnn_mode == BACKGAUGE_LSTM;
  const std::string name = gru ? "n" : !lstm ? "h" : x.name == "n" ? "n" : "co";
  return {bound_.tanh(x.b), name};
}

Named NamedTerms::blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
  Matrix out{bound_.blend(z.b, h.b, n.b), "h"};
  report({{"(1-z) n", (1 - z.b.v) * n.b.v}, {"z h_prev", z.b.v * h.b.v}}, out.b);
  return out;
}

std::string NamedTerms::gate_name(Index gate) const {
  const std::string_view gates = problem_.attributes.rnn_mode == BACKGAUGE_LSTM ? "ifno" : "rzn";
  return std::string(1, gates[static_cast<std::size_t>(gate)]);
}

Named NamedTerms::rows(const Matrix& x, Index begin, Index count) const {
  Matrix out{bound_.rows(x.b, begin, count), x.name};
  if (x.name == "w") out.name = begin == 0 ? "w[x]" : "w[h]";
  return out;
}

Named NamedTerms::columns(const Matrix& x, Index begin, Index count) const {
  Matrix out{bound_.columns(x.b, begin, count), x.name};
  // Gates that were computed together get a name each; all other columns keep the name of the whole.
  if (x.name == "a" && count == problem_.extents.H && x.cols() > count) out.name = gate_name(begin / count);
  for (Index at = 0; const NamedPart& part : x.beside) {
    if (at == begin && part.count == count) out.name = part.name;
    at += part.count;
  }
  return out;
}

Named NamedTerms::beside(const std::vector<const Matrix*>& parts) const {
  Matrix out{bound_.beside(bounds_of(parts)), name_of(parts), {}, parts.front()->below};
  for (const Matrix* part : parts) {
    if (part->beside.empty()) {
      out.beside.push_back({part->name, part->cols()});
    } else {
      out.beside.insert(out.beside.end(), part->beside.begin(), part->beside.end());
    }
  }
  return out;
}

Named NamedTerms::below(const std::vector<const Matrix*>& parts) const {
  Matrix out{bound_.below(bounds_of(parts)), parts.front()->name};
  for (const Matrix* part : parts) out.below.push_back({part->name, part->rows()});
  return out;
}

}  // namespace backgauge
