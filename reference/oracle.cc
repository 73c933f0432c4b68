// SPDX-License-Identifier: Apache-2.0
#include "reference/oracle.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <span>

#include "reference/arithmetic/dense_product.h"
#include "reference/deviation.h"
#include "reference/memory.h"
#include "reference/rounding_model.h"

namespace backgauge {
namespace {

Shape shape_of(const OpSpec& spec, std::string_view name, const Extents& extents) {
  for (const TensorSpec& output : spec.outputs) {
    if (output.name == name) return output.shape(extents);
  }
  throw std::logic_error("the op has no output " + std::string(name));
}

// Values and rigorous bounds of all outputs.
template <class V>
struct Bounds {
  std::vector<std::string> names;
  std::vector<std::vector<V>> values;
  OutputNumbers bounds;
};

template <class V>
Bounds<V> bounded(const Problem& problem, const RoundingModel& model) {
  Bounds<V> out;
  for (auto& evaluated : evaluate(Bound<V>(model), problem)) {
    out.names.emplace_back(evaluated.name);
    std::vector<V>& values = out.values.emplace_back();
    std::vector<double>& bounds = out.bounds.emplace_back();
    Index count = 0;
    for (const auto& part : evaluated.parts) count += part.size();
    values.reserve(static_cast<std::size_t>(count));
    bounds.reserve(static_cast<std::size_t>(count));
    for (auto& part : evaluated.parts) {
      values.insert(values.end(), part.v.data(), part.v.data() + part.size());
      bounds.insert(bounds.end(), part.e.data(), part.e.data() + part.size());
      part = Bounded<V>();
    }
  }
  return out;
}

bool reads_nonfinite(const Problem& problem) {
  return std::ranges::any_of(spec_of(problem.op).inputs, [&](const TensorSpec& spec) {
    const Tensor* const tensor = problem.find(spec.name);
    if (tensor == nullptr) return false;
    const auto read = static_cast<std::size_t>(elements_in_rows(tensor->shape, spec.rows(problem.extents)));
    const std::span values(tensor->values);
    return std::ranges::any_of(values.first(std::min(read, values.size())), [](double v) { return !std::isfinite(v); });
  });
}

// Elements without a bound get a NaN as their value, unless only their bound overflows.
template <class V>
void open_where_values_overflow(const Problem& problem, const RoundingModel& model, std::vector<Wanted>& all) {
  const auto is_unbounded = [](const Wanted& wanted, std::size_t k) {
    return std::isinf(wanted.allowed[k]) && std::isfinite(wanted.value[k]);
  };
  const bool any = std::ranges::any_of(all, [&](const Wanted& wanted) {
    for (std::size_t k = 0; k < wanted.value.size(); ++k) {
      if (is_unbounded(wanted, k)) return true;
    }
    return false;
  });
  if (!any) return;
  OutputNumbers errors;
  if (!reads_nonfinite(problem)) errors = bounded<V>(problem, exact_and_narrow(model)).bounds;
  for (std::size_t t = 0; t < all.size(); ++t) {
    for (std::size_t k = 0; k < all[t].value.size(); ++k) {
      if (!is_unbounded(all[t], k)) continue;
      if (errors.empty() || !std::isfinite(errors[t][k])) all[t].value[k] = static_cast<long double>(NAN);
    }
  }
}

// glibc keeps freed memory for the thread that allocated it; the noise could not use it.
void release_freed_memory() { malloc_trim(0); }

// Without a finite bound or deviation, the result may be anything, including NaN: bounds.md 3.11. deviation: empty if
// only the bound applies.
template <class V>
std::vector<Wanted> wanted_by(const Problem& problem, const RoundingModel& model, Bounds<V> bounded,
                              OutputNumbers deviation) {
  deviation.resize(bounded.names.size());
  std::vector<Wanted> out;
  for (std::size_t t = 0; t < bounded.names.size(); ++t) {
    const std::vector<V> values = std::move(bounded.values[t]);
    const std::vector<double> bounds = std::move(bounded.bounds[t]), deviations = std::move(deviation[t]);
    Wanted& wanted = out.emplace_back(
        Wanted{bounded.names[t], shape_of(spec_of(problem.op), bounded.names[t], problem.extents), {}, {}});
    const auto elements = static_cast<std::size_t>(element_count(wanted.shape).value());
    wanted.value.reserve(elements);
    wanted.allowed.reserve(elements);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double value = static_cast<double>(values[k]);
      double allowed = bound_when_stored(value, bounds[k], problem.dtype);
      if (!deviations.empty() && std::isfinite(value)) {
        allowed = std::min(allowed, bound_when_stored(value, kDeviations * deviations[k], problem.dtype));
      }
      wanted.value.push_back(std::isinf(allowed) && !std::isfinite(value) ? static_cast<long double>(NAN) : values[k]);
      wanted.allowed.push_back(allowed);
    }
    wanted.value.resize(elements, 0);
    wanted.allowed.resize(elements, 0);
  }
  open_where_values_overflow<V>(problem, model, out);
  return out;
}

template <class V>
std::vector<Wanted> oracle_in(const Problem& problem, const RoundingModel& model, RoundingErrors roundings) {
  if (roundings == RoundingErrors::kCorrelated) return wanted_by(problem, model, bounded<V>(problem, model), {});
  // A large problem has all cores: for both in parallel, or for the products of one after the other if both together
  // would need more memory than the noise.
  constexpr double kTogether = 64.0 * 1024 * 1024;
  const bool large = is_large(problem), together = large && bound_bytes(problem) < kTogether;
  std::optional<ProductsOnAllCores> on_all_cores;
  if (large && !together) on_all_cores.emplace();
  const auto launch = together ? std::launch::async : std::launch::deferred;
  std::future<FirstEstimate> first = std::async(launch, [&] { return first_estimate(problem, model); });
  Bounds<V> bounds = bounded<V>(problem, model);
  FirstEstimate estimate = first.get();
  on_all_cores.reset();
  if (large) release_freed_memory();
  OutputNumbers deviation = deviations_below(std::move(estimate), problem, model, bounds.bounds);
  return wanted_by(problem, model, std::move(bounds), std::move(deviation));
}

template <class V>
std::vector<ErrorModel> error_model_in(const Problem& problem, const RoundingModel& model) {
  Bounds<V> bounds = bounded<V>(problem, model);
  OutputNumbers deviation = deviations(first_estimate(problem, model), problem, model);
  std::vector<ErrorModel> out;
  for (std::size_t t = 0; t < bounds.names.size(); ++t) {
    out.push_back({bounds.names[t],
                   {bounds.values[t].begin(), bounds.values[t].end()},
                   std::move(bounds.bounds[t]),
                   std::move(deviation[t])});
  }
  return out;
}

// The bound of a float64 result is a few of its roundings, so its value needs more digits than double has.
bool needs_long_double(const Problem& problem) { return problem.dtype == BACKGAUGE_FLOAT64; }

template <class V>
std::vector<std::vector<V>> exact_values(const Problem& problem) {
  return flatten(Exact<V>(), problem, [](const Plane<V>& part, Index k) { return part.data()[k]; });
}

}  // namespace

std::vector<Wanted> oracle(const Problem& problem, const Declared& declared, RoundingErrors roundings) {
  const RoundingModel model = rounding_model(problem, declared);
  return needs_long_double(problem) ? oracle_in<long double>(problem, model, roundings)
                                    : oracle_in<double>(problem, model, roundings);
}

std::vector<ErrorModel> error_model(const Problem& problem, const Declared& declared) {
  const RoundingModel model = rounding_model(problem, declared);
  return needs_long_double(problem) ? error_model_in<long double>(problem, model)
                                    : error_model_in<double>(problem, model);
}

double oracle_error(const Problem& problem, const std::vector<Wanted>& wanted) {
  const bool float64 = needs_long_double(problem);
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
