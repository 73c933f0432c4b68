// SPDX-License-Identifier: Apache-2.0
#include "reference/testing/written_out.h"

#include <algorithm>

#include "reference/contract/narrow.h"
#include "reference/contract/storage.h"
#include "reference/evaluate.h"

namespace backgauge::testing {

std::vector<Forms> all_forms() {
  std::vector<Forms> out;
  for (int tanh = 0; tanh < 4; ++tanh) {
    for (int sigmoid = 0; sigmoid < 4; ++sigmoid) {
      for (const bool differences : {false, true}) {
        for (const bool choices : {false, true}) {
          for (const bool backwards : {false, true}) {
            out.push_back({static_cast<Forms::Tanh>(tanh), static_cast<Forms::Sigmoid>(sigmoid), differences, choices,
                           backwards});
          }
        }
      }
    }
  }
  return out;
}

Plane<float> WrittenOut::to_dtype(const Plane<float>& x) const {
  if (dtype_ == BACKGAUGE_HALF) return x.unaryExpr([](float value) { return static_cast<float>(Half(value)); });
  return x.unaryExpr([](float value) { return static_cast<float>(Bfloat16(value)); });
}

WrittenOut::Matrix WrittenOut::sum_of(std::span<const Matrix* const> parts) const {
  std::vector<const Matrix*> terms(parts.begin(), parts.end());
  if (forms_.backwards) std::ranges::reverse(terms);
  Matrix out{terms.front()->v};
  for (std::size_t k = 1; k < terms.size(); ++k) out.v = rounded(out.v + terms[k]->v);
  return out;
}

bool WrittenOut::multiplied_out(const Matrix& factor) const {
  switch (factor.factor) {
    case Matrix::Factor::kPlain: return false;
    case Matrix::Factor::kTanhSlope: return forms_.tanh >= Forms::Tanh::kSquareTimesG;
    case Matrix::Factor::kSigmoidSlope: return forms_.sigmoid >= Forms::Sigmoid::kSquareTimesG;
    case Matrix::Factor::kDifference: return forms_.differences_times_g;
    case Matrix::Factor::kMask: return forms_.choices;
  }
  return false;
}

Plane<float> WrittenOut::multiply_out(const Plane<float>& g, const Matrix& factor) const {
  const Plane<float>&x = factor.x, &y = factor.y;
  const auto times = [this](const Plane<float>& a, const Plane<float>& b) { return rounded(a * b); };
  switch (factor.factor) {
    case Matrix::Factor::kTanhSlope:
      if (forms_.tanh == Forms::Tanh::kSquareTimesG) return rounded(g - times(times(g, x), x));
      return times(rounded(g + times(g, x)), rounded(1 - x));
    case Matrix::Factor::kSigmoidSlope:
      if (forms_.sigmoid == Forms::Sigmoid::kSquareTimesG) return rounded(times(g, x) - times(times(g, x), x));
      return times(rounded(g - times(g, x)), x);
    case Matrix::Factor::kDifference: return rounded(times(g, x) - times(g, y));
    case Matrix::Factor::kMask: return (factor.v == 0).select(0, times(g, factor.v));
    case Matrix::Factor::kPlain: break;
  }
  return times(g, factor.v);
}

WrittenOut::Matrix WrittenOut::product_of(std::span<const Matrix* const> parts) const {
  std::vector<const Matrix*> factors(parts.begin(), parts.end());
  if (forms_.backwards) std::ranges::reverse(factors);
  // What is multiplied out comes last: it needs a g.
  std::stable_partition(factors.begin(), factors.end(),
                        [this](const Matrix* factor) { return !multiplied_out(*factor); });
  Matrix out{factors.front()->v};
  for (std::size_t k = 1; k < factors.size(); ++k) {
    out.v = multiplied_out(*factors[k]) ? multiply_out(out.v, *factors[k]) : rounded(out.v * factors[k]->v);
  }
  return out;
}

Plane<float> WrittenOut::dot(Plane<float> sum, const Plane<float>& x, const Plane<float>& y) const {
  for (Index k = 0; k < x.cols(); ++k) {
    const Index n = forms_.backwards ? x.cols() - 1 - k : k;
    const Plane<float> terms = rounded(x.col(n).replicate(1, y.cols()) * y.row(n).replicate(x.rows(), 1));
    sum = rounded(sum + terms);
  }
  return sum;
}

WrittenOut::Matrix WrittenOut::relu(const Matrix& x) const {
  if (forms_.choices) return {exact_.relu(x.v)};
  return {x.v.unaryExpr([](float value) { return value < 0 ? 0 : value; })};  // a NaN stays one
}

WrittenOut::Matrix WrittenOut::sigmoid_slope(const Matrix& s) const {
  const Plane<float> slope =
      forms_.sigmoid == Forms::Sigmoid::kSquare ? rounded(s.v - rounded(s.v * s.v)) : rounded(s.v * rounded(1 - s.v));
  return {slope, Matrix::Factor::kSigmoidSlope, s.v, {}};
}

WrittenOut::Matrix WrittenOut::tanh_slope(const Matrix& t) const {
  const Plane<float> slope = forms_.tanh == Forms::Tanh::kFactors ? rounded(rounded(1 - t.v) * rounded(1 + t.v))
                                                                  : rounded(1 - rounded(t.v * t.v));
  return {slope, Matrix::Factor::kTanhSlope, t.v, {}};
}

WrittenOut::Matrix WrittenOut::where_positive(const Matrix& p, const Matrix& x) const {
  if (forms_.choices) return {exact_.where_positive(p.v, x.v)};
  return {x.v * (p.v > 0).cast<float>()};
}

WrittenOut::Matrix WrittenOut::blend(const Matrix& z, const Matrix& h, const Matrix& n) const {
  if (forms_.differences_times_g) return sum(n, product(z, Matrix{rounded(h.v - n.v)}));
  return sum(product(Matrix{rounded(1 - z.v)}, n), product(z, h));
}

std::vector<std::vector<double>> written_out(const Problem& problem, const Forms& forms,
                                             backgauge_accuracy_class accuracy_class) {
  std::vector<std::vector<double>> out;
  for (const auto& evaluated : evaluate(WrittenOut(forms, problem.dtype, accuracy_class), problem)) {
    std::vector<double>& values = out.emplace_back();
    for (const auto& part : evaluated.parts) {
      for (Index k = 0; k < part.size(); ++k) {
        values.push_back(round_to(problem.dtype, static_cast<double>(part.v.data()[k])));
      }
    }
  }
  return out;
}

}  // namespace backgauge::testing
