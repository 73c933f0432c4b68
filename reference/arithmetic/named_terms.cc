// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/named_terms.h"

#include <algorithm>

namespace backgauge {
namespace {

// The name of concatenated parts: "di.." if they have different names.
std::string name_of(const std::vector<const Recorded*>& parts) {
  const std::string& first = parts.front()->name;
  const bool same = std::ranges::all_of(parts, [&](const Recorded* part) { return part->name == first; });
  return same || first.ends_with("..") ? first : first + "..";
}

// The name of a sum, derived from its first term.
std::string sum_name(const std::vector<const Recorded*>& terms) {
  const std::string& first = terms.front()->name;
  if (first == "dco") return "dcs";
  if (terms.back()->name == "cs_grad") return "cs_grad+dcs'";
  if (first == "dcs f") return "dcs'";
  if (first == "dh'" || first == "output_h_backprop") return "dh";
  return first == "input" ? "a" : first == "i n" ? "cs" : first + "+..";
}

// The name of a matrix product; its operands show in which equation it occurs.
std::string matmul_name(const Recorded& x, const Recorded& y) {
  if (!x.name.starts_with("d")) return "a";
  return y.name.starts_with("W") || y.name == "w[x]" ? "dx" : "dh'";
}

// The step that row block `k` of `count` belongs to.
std::string step_name(std::size_t k, std::size_t count) {
  return k == 0 ? "first step: " : k + 1 == count ? "last step: " : "step between: ";
}

}  // namespace

Recording::Recording(const RoundingModel& model, const Problem& problem, std::map<std::string, double>& largest)
    : bound_(model),
      problem_(problem),
      params_(traits_of(problem.op).is_stacked
                  ? rnn_params(problem.attributes, problem.extents.I, problem.extents.H, problem.extents.L)
                  : RnnParams{}),
      largest_(largest) {}

Recorded Recording::input(const double* values, Index rows, Index cols) const {
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

void Recording::record(const std::string& name, const Plane<double>& term, const Bounded<double>& sum) const {
  if (name.starts_with("0") || name.ends_with(" 0")) return;
  double& largest = largest_[name];
  for (Index k = 0; k < term.size(); ++k) {
    const double size = std::fabs(term.data()[k]), e = sum.e.data()[k];
    if (size > 0 && std::isfinite(size)) largest = std::max(largest, size / e);
  }
}

Recorded Recording::sum_of(const std::vector<const Matrix*>& terms) const {
  std::vector<Bounded<double>> values;
  for (const Matrix* term : terms) values.push_back(term->b);
  Matrix out{bound_.sum(values), sum_name(terms)};
  for (const Matrix* term : terms) record(term->name, term->b.v, out.b);
  return out;
}

Recorded Recording::sum(const std::vector<Matrix>& terms) const {
  std::vector<const Matrix*> pointers;
  for (const Matrix& term : terms) pointers.push_back(&term);
  return sum_of(pointers);
}

Recorded Recording::difference(const Matrix& x, const Matrix& y) const {
  const Matrix subtracted = negative(y);
  Matrix out{bound_.difference(x.b, y.b), sum_name({&x, &subtracted})};
  record(x.name, x.b.v, out.b);
  record(subtracted.name, subtracted.b.v, out.b);
  return out;
}

std::string Recording::product_name(const std::vector<const Matrix*>& factors) {
  std::string out;
  for (const Matrix* factor : factors) {
    const std::string& name = factor->name;
    if (name == "0") return name;
    if (name == "mask") continue;  // multiplication by a dropout mask does not change the name
    if (name == "h'") return "da";
    if (name.ends_with("'") && !name.starts_with("d")) return "d" + name.substr(0, name.size() - 1);
    out += (out.empty() ? "" : " ") + name;
  }
  return out == "o co" ? "h" : out;
}

// Records each term: the concatenated columns of x, or the steps whose rows are stacked.
void Recording::record_blocks(const Matrix& x, const Matrix& y, const Bounded<double>& sum) const {
  const std::vector<RecordedPart> whole = {{x.name, x.cols()}};
  const std::vector<RecordedPart>& parts = x.beside.empty() ? whole : x.beside;
  if (x.transposed && parts.size() == 1) return;  // a sum over the batch of one step is not a term
  Index begin = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Index count = parts[k].count;
    const std::string& right = !x.transposed && y.below.size() == parts.size() ? y.below[k].name : y.name;
    const std::string name = parts[k].name == "1" ? right : parts[k].name + " " + right;
    const Plane<double> x_part = x.b.v.middleCols(begin, count), y_part = y.b.v.middleRows(begin, count);
    record((x.transposed ? step_name(k, parts.size()) : "") + name, plane_product<double>(x_part, y_part), sum);
    begin += count;
  }
}

Recorded Recording::matmul(const Matrix& x, const Matrix& y) const {
  Matrix out{bound_.matmul(x.b, y.b), matmul_name(x, y)};
  record_blocks(x, y, out.b);
  return out;
}

Recorded Recording::add_matmul(const Matrix& c, const Matrix& x, const Matrix& y) const {
  Matrix out{bound_.add_matmul(c.b, x.b, y.b), matmul_name(x, y)};
  record(c.name, c.b.v, out.b);
  record_blocks(x, y, out.b);
  return out;
}

Recorded Recording::column_sums(const Matrix& x) const {
  Matrix out{bound_.column_sums(x.b), x.name};
  Index begin = 0;
  for (std::size_t k = 0; x.below.size() > 1 && k < x.below.size(); ++k) {
    record(step_name(k, x.below.size()) + x.name, x.b.v.middleRows(begin, x.below[k].count).colwise().sum(), out.b);
    begin += x.below[k].count;
  }
  return out;
}

// In a stacked net: the tanh of the third gate, of a state, or the state itself.
Recorded Recording::tanh(const Matrix& x) const {
  const bool gru = problem_.attributes.rnn_mode == BACKGAUGE_GRU, lstm = problem_.attributes.rnn_mode == BACKGAUGE_LSTM;
  const std::string name = gru ? "n" : !lstm ? "h" : x.name == "n" ? "n" : "co";
  return {bound_.tanh(x.b), name};
}

Recorded Recording::blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
  Matrix out{bound_.blend(z.b, h.b, n.b), "h"};
  record("(1-z) n", (1 - z.b.v) * n.b.v, out.b);
  record("z h_prev", z.b.v * h.b.v, out.b);
  return out;
}

std::string Recording::gate_name(Index gate) const {
  const std::string_view gates = problem_.attributes.rnn_mode == BACKGAUGE_LSTM ? "ifno" : "rzn";
  return std::string(1, gates[static_cast<std::size_t>(gate)]);
}

Recorded Recording::rows(const Matrix& x, Index begin, Index count) const {
  Matrix out{bound_.rows(x.b, begin, count), x.name};
  if (x.name == "w") out.name = begin == 0 ? "w[x]" : "w[h]";
  return out;
}

Recorded Recording::columns(const Matrix& x, Index begin, Index count) const {
  Matrix out{bound_.columns(x.b, begin, count), x.name};
  // Gates that were computed together get a name each; all other columns keep the name of the whole.
  if (x.name == "a" && count == problem_.extents.H && x.cols() > count) out.name = gate_name(begin / count);
  for (Index at = 0; const RecordedPart& part : x.beside) {
    if (at == begin && part.count == count) out.name = part.name;
    at += part.count;
  }
  return out;
}

std::vector<const Bounded<double>*> Recording::bounds_of(const std::vector<const Matrix*>& parts) {
  std::vector<const Bounded<double>*> out;
  for (const Matrix* part : parts) out.push_back(&part->b);
  return out;
}

Recorded Recording::beside(const std::vector<const Matrix*>& parts) const {
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

Recorded Recording::below(const std::vector<const Matrix*>& parts) const {
  Matrix out{bound_.below(bounds_of(parts)), parts.front()->name};
  for (const Matrix* part : parts) out.below.push_back({part->name, part->rows()});
  return out;
}

}  // namespace backgauge
