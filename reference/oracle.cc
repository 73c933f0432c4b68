// SPDX-License-Identifier: Apache-2.0
#include "reference/oracle.h"

#include <algorithm>
#include <cmath>

#include "reference/arithmetic/bound.h"
#include "reference/arithmetic/exact.h"
#include "reference/arithmetic/noise.h"
#include "reference/arithmetic/variance.h"
#include "reference/contract/storage.h"
#include "reference/evaluate.h"

namespace backgauge {

// Instantiated in evaluate_<arithmetic>.cc, one each: they are what takes time to compile.
extern template std::vector<Evaluated<Exact<double>::Matrix>> evaluate(const Exact<double>&, const Problem&);
extern template std::vector<Evaluated<Bound<double>::Matrix>> evaluate(const Bound<double>&, const Problem&);
extern template std::vector<Evaluated<Bound<long double>::Matrix>> evaluate(const Bound<long double>&, const Problem&);
extern template std::vector<Evaluated<Variance::Matrix>> evaluate(const Variance&, const Problem&);
extern template std::vector<Evaluated<Noise::Matrix>> evaluate(const Noise&, const Problem&);

namespace {

const OpSpec& spec_of(const Problem& problem) {
  const OpSpec* spec = find_op(problem.op);
  if (spec == nullptr) throw std::logic_error("unknown op");
  return *spec;
}

Shape shape_of(const OpSpec& spec, std::string_view name, const Extents& extents) {
  for (const TensorSpec& output : spec.outputs) {
    if (output.name == name) return output.shape(extents);
  }
  throw std::logic_error("the op has no output " + std::string(name));
}

// bounds.md 2: what the declaration says about roundings.
RoundingModel rounding_model(const Problem& problem, const Declared& declared) {
  const bool half = problem.dtype == BACKGAUGE_HALF;
  const FloatFormat storage = float_format(problem.dtype);
  const FloatFormat compute =
      half && declared.half_class != BACKGAUGE_CLASS_B ? float_format(BACKGAUGE_FLOAT32) : storage;
  RoundingModel model;
  model.unit_roundoff = compute.unit_roundoff;
  // Half arithmetic keeps its subnormals and so loses half of the least one; wider formats may be flushed.
  model.least_normal =
      half && declared.half_class == BACKGAUGE_CLASS_B ? storage.least_positive / 2 : compute.least_normal;
  if (half && declared.half_class == BACKGAUGE_CLASS_A_PRIME) {
    model.carry_roundoff = storage.unit_roundoff;
    model.carry_underflow = storage.least_positive / 2;
  }
  switch (declared.numerical_contract) {
    case BACKGAUGE_FP32_TF32: model.operand_roundoff = 0x1p-11; break;
    case BACKGAUGE_BF16_ACC32: model.operand_roundoff = 0x1p-8; break;
    case BACKGAUGE_FP16_ACC32: model.operand_roundoff = 0x1p-11; break;
    case BACKGAUGE_FP32_STRICT: break;
  }
  if (problem.dtype == BACKGAUGE_FLOAT64) model.operand_roundoff = 0;
  if (declared.recomputes_co) model.recomputed_co = 2 * storage.unit_roundoff + model.activation_relative();
  return model;
}

// bounds.md 4: the last rounding, to storage.
double allowed(double value, double error, const FloatFormat& storage, bool half) {
  if (!std::isfinite(value)) return error;  // 0: just this; infinity: anything
  const double size = std::fabs(value) + error;
  if (size == 0) return 0;
  const double underflow = half ? storage.least_positive / 2 : storage.least_normal;
  const double out = error + storage.unit_roundoff * size + underflow;
  return std::isnan(out) ? INFINITY : out;  // 0 * infinity on the way: nothing is known
}

// One number per element of each output, in the order of evaluate(); zero rows at the end are left out.
using Flat = std::vector<std::vector<double>>;

template <class A, class Element>
Flat flatten(const A& arithmetic, const Problem& problem, Element element) {
  Flat out;
  for (const auto& evaluated : evaluate(arithmetic, problem)) {
    std::vector<double>& values = out.emplace_back();
    for (const auto& part : evaluated.parts) {
      for (Index k = 0; k < part.size(); ++k) values.push_back(element(part, k));
    }
  }
  return out;
}

// bounds.md 6: standard deviation of the error of each element, the larger of its two estimates.
Flat deviations(const Problem& problem, RoundingModel model) {
  // To first order deviations are proportional to u. Where u is that of the double the noise is computed in, the noise
  // is made with a larger one and scaled back.
  const double scale = problem.dtype == BACKGAUGE_FLOAT64 ? 0x1p-24 / model.unit_roundoff : 1;
  model.unit_roundoff *= scale;
  const auto plain = [](const Plane<double>& part, Index k) { return part.data()[k]; };
  const Flat exact = flatten(Exact<double>(), problem, plain);
  Flat out = flatten(Variance(model), problem, [](const Spread& part, Index k) { return std::sqrt(part.q.data()[k]); });

  // With 24 runs the chance that their root mean square is below a third of the deviation is 2e-9.
  constexpr int kRuns = 24;
  Flat squares = exact;
  for (auto& tensor : squares) std::fill(tensor.begin(), tensor.end(), 0.0);
  for (int run = 0; run < kRuns; ++run) {
    const Flat noisy = flatten(Noise(model, static_cast<std::uint64_t>(run)), problem, plain);
    for (std::size_t t = 0; t < noisy.size(); ++t) {
      for (std::size_t k = 0; k < noisy[t].size(); ++k) {
        const double off = noisy[t][k] - exact[t][k];
        squares[t][k] += off * off;
      }
    }
  }
  for (std::size_t t = 0; t < out.size(); ++t) {
    for (std::size_t k = 0; k < out[t].size(); ++k) {
      out[t][k] = std::max(out[t][k], std::sqrt(squares[t][k] / kRuns)) / scale;
    }
  }
  return out;
}

template <class V>
std::vector<Wanted> bounded(const Problem& problem, const RoundingModel& model) {
  const OpSpec& spec = spec_of(problem);
  const FloatFormat storage = float_format(problem.dtype);
  std::vector<Wanted> out;
  for (const auto& evaluated : evaluate(Bound<V>(model), problem)) {
    Wanted wanted{std::string(evaluated.name), shape_of(spec, evaluated.name, problem.extents), {}, {}};
    for (const auto& part : evaluated.parts) {
      for (Index k = 0; k < part.size(); ++k) {
        const V value = part.v.data()[k];
        wanted.value.push_back(static_cast<long double>(value));
        wanted.allowed.push_back(
            allowed(static_cast<double>(value), part.e.data()[k], storage, problem.dtype == BACKGAUGE_HALF));
      }
    }
    const auto elements = static_cast<std::size_t>(element_count(wanted.shape).value());
    wanted.value.resize(elements, 0);
    wanted.allowed.resize(elements, 0);
    out.push_back(std::move(wanted));
  }
  return out;
}

}  // namespace

std::vector<Wanted> oracle(const Problem& problem, const Declared& declared, Values values) {
  const RoundingModel model = rounding_model(problem, declared);
  // The bound of a float64 result is a few of its roundings, so its value needs more digits than double has.
  std::vector<Wanted> out =
      problem.dtype == BACKGAUGE_FLOAT64 ? bounded<long double>(problem, model) : bounded<double>(problem, model);
  if (values == Values::kStructured) return out;

  // bounds.md 6: 2 exp(-8^2 / 2) = 2.5e-14 is the chance of a false alarm per element.
  constexpr double kDeviations = 8;
  const FloatFormat storage = float_format(problem.dtype);
  const Flat sigma = deviations(problem, model);
  for (std::size_t t = 0; t < out.size(); ++t) {
    for (std::size_t k = 0; k < sigma[t].size(); ++k) {
      if (!std::isfinite(out[t].value[k])) continue;
      const double likely = allowed(static_cast<double>(out[t].value[k]), kDeviations * sigma[t][k], storage,
                                    problem.dtype == BACKGAUGE_HALF);
      if (likely < out[t].allowed[k]) out[t].allowed[k] = likely;
    }
  }
  return out;
}

std::vector<Tensor> oracle_values(const Problem& problem) {
  const OpSpec& spec = spec_of(problem);
  std::vector<Tensor> out;
  for (const auto& evaluated : evaluate(Exact<double>(), problem)) {
    Tensor tensor{std::string(evaluated.name), shape_of(spec, evaluated.name, problem.extents), {}};
    for (const auto& part : evaluated.parts) {
      tensor.values.insert(tensor.values.end(), part.data(), part.data() + part.size());
    }
    tensor.values.resize(static_cast<std::size_t>(element_count(tensor.shape).value()), 0.0);
    out.push_back(std::move(tensor));
  }
  return out;
}

Problem forward_problem(const Problem& backprop) {
  Problem forward = backprop;
  forward.op = BACKGAUGE_CUDNN_RNN;
  forward.inputs.clear();
  for (const TensorSpec& input : spec_of(forward).inputs) {
    if (const Tensor* tensor = backprop.find(input.name)) forward.inputs.push_back(*tensor);
  }
  return forward;
}

}  // namespace backgauge
