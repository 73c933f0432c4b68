// SPDX-License-Identifier: Apache-2.0
#include "reference/oracle.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "reference/deviation.h"
#include "reference/rounding_model.h"

namespace backgauge {
namespace {

Shape shape_of(const OpSpec& spec, std::string_view name, const Extents& extents) {
  for (const TensorSpec& output : spec.outputs) {
    if (output.name == name) return output.shape(extents);
  }
  throw std::logic_error("the op has no output " + std::string(name));
}

// Values and bounds, without deviations.
template <class V>
std::vector<ErrorModel> bounded(const Problem& problem, const RoundingModel& model) {
  std::vector<ErrorModel> out;
  for (auto& evaluated : evaluate(Bound<V>(model), problem)) {
    ErrorModel& tensor = out.emplace_back(ErrorModel{std::string(evaluated.name), {}, {}, {}});
    Index count = 0;
    for (const auto& part : evaluated.parts) count += part.size();
    tensor.value.reserve(static_cast<std::size_t>(count));
    tensor.bound.reserve(static_cast<std::size_t>(count));
    for (auto& part : evaluated.parts) {
      tensor.value.insert(tensor.value.end(), part.v.data(), part.v.data() + part.size());
      tensor.bound.insert(tensor.bound.end(), part.e.data(), part.e.data() + part.size());
      part = Bounded<V>();
    }
  }
  return out;
}

// The bound of a float64 result is a few of its roundings, so its value needs more digits than double has.
std::vector<ErrorModel> bounded(const Problem& problem, const RoundingModel& model) {
  return problem.dtype == BACKGAUGE_FLOAT64 ? bounded<long double>(problem, model) : bounded<double>(problem, model);
}

// Without a finite bound or deviation, the result may be anything, including NaN: bounds.md 3.11.
std::vector<Wanted> wanted_by(const Problem& problem, std::vector<ErrorModel> tensors) {
  std::vector<Wanted> out;
  for (ErrorModel& tensor : tensors) {
    Wanted wanted{
        tensor.name, shape_of(spec_of(problem.op), tensor.name, problem.extents), std::move(tensor.value), {}};
    for (std::size_t k = 0; k < wanted.value.size(); ++k) {
      const double value = static_cast<double>(wanted.value[k]);
      double allowed = stored(value, tensor.bound[k], problem.dtype);
      if (!tensor.deviation.empty() && std::isfinite(value)) {
        allowed = std::min(allowed, stored(value, kDeviations * tensor.deviation[k], problem.dtype));
      }
      if (std::isinf(allowed)) wanted.value[k] = NAN;
      wanted.allowed.push_back(allowed);
    }
    const auto elements = static_cast<std::size_t>(element_count(wanted.shape).value());
    wanted.value.resize(elements, 0);
    wanted.allowed.resize(elements, 0);
    out.push_back(std::move(wanted));
  }
  return out;
}

void add_deviations(std::vector<ErrorModel>& tensors, Flat deviation) {
  for (std::size_t t = 0; t < deviation.size(); ++t) tensors[t].deviation = std::move(deviation[t]);
}

template <class V>
std::vector<std::vector<V>> exact_values(const Problem& problem) {
  return flatten(Exact<V>(), problem, [](const Plane<V>& part, Index k) { return part.data()[k]; });
}

}  // namespace

std::vector<Wanted> oracle(const Problem& problem, const Declared& declared, RoundingErrors roundings) {
  const RoundingModel model = rounding_model(problem, declared);
  if (roundings == RoundingErrors::kCorrelated) return wanted_by(problem, bounded(problem, model));
  // In parallel, or one after the other.
  const auto launch = is_large(problem) ? std::launch::async : std::launch::deferred;
  std::future<FirstEstimate> first = std::async(launch, [&] { return first_estimate(problem, model); });
  std::vector<ErrorModel> tensors = bounded(problem, model);
  Flat bound;
  for (ErrorModel& tensor : tensors) bound.push_back(std::move(tensor.bound));
  add_deviations(tensors, deviations_below(first.get(), problem, model, bound));
  for (std::size_t t = 0; t < tensors.size(); ++t) tensors[t].bound = std::move(bound[t]);
  return wanted_by(problem, std::move(tensors));
}

std::vector<ErrorModel> error_model(const Problem& problem, const Declared& declared) {
  const RoundingModel model = rounding_model(problem, declared);
  std::vector<ErrorModel> tensors = bounded(problem, model);
  add_deviations(tensors, deviations(first_estimate(problem, model), problem, model));
  return tensors;
}

double oracle_error(const Problem& problem, const std::vector<Wanted>& wanted) {
  const bool float64 = problem.dtype == BACKGAUGE_FLOAT64;
  const double scale = float64 ? 0x1p-11 : 1;
  std::vector<std::vector<long double>> again;
  if (float64) {
    for (const auto& tensor : exact_values<double>(problem)) again.emplace_back(tensor.begin(), tensor.end());
  } else {
    again = exact_values<long double>(problem);
  }
  double worst = 0;
  for (std::size_t t = 0; t < again.size(); ++t) {
    for (std::size_t k = 0; k < again[t].size(); ++k) {
      const long double value = wanted[t].value[k];
      if (!std::isfinite(static_cast<double>(value)) || value == again[t][k]) continue;
      const double off = static_cast<double>(std::fabs(value - again[t][k])) * scale;
      worst = std::max(worst, off / wanted[t].allowed[k]);
    }
  }
  return worst;
}

std::vector<Tensor> oracle_values(const Problem& problem) {
  const OpSpec& spec = spec_of(problem.op);
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
  forward.op = traits_of(backprop.op).forward.value();
  forward.inputs.clear();
  for (const TensorSpec& input : spec_of(forward.op).inputs) {
    if (const Tensor* tensor = backprop.find(input.name)) forward.inputs.push_back(*tensor);
  }
  return forward;
}

}  // namespace backgauge
