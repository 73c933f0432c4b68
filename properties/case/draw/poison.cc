// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/poison.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "properties/case/draw/input_ranges.h"
#include "properties/case/line/random.h"
#include "properties/case/line/shaped_problem.h"

namespace backgauge {
namespace {

constexpr std::string_view kNonfinite = "nonfinite";  // the random stream of the place and the sign

std::int64_t elements_read(const Problem& problem, const Tensor& tensor) {
  return elements_in_rows(tensor.shape, spec_of(problem.op, tensor).rows(problem.extents));
}

double poison_value(Poison poison, backgauge_dtype dtype) {
  if (poison == Poison::kNan) return std::numeric_limits<double>::quiet_NaN();
  if (poison == Poison::kInfinity) return std::numeric_limits<double>::infinity();
  return input_range(dtype).poison;
}

}  // namespace

void poison_unread(const Case& c, const DrawRules& rules, Problem& problem, DataFacts& facts) {
  if (rules.poison == Poison::kPlausible) return;
  const double value = poison_value(rules.poison, c.dtype);
  for (Tensor& tensor : problem.inputs) {
    const TensorSpec& spec = spec_of(problem.op, tensor);
    if (spec.is_int64) continue;
    const std::int64_t read = elements_read(problem, tensor);
    std::fill(tensor.values.begin() + read, tensor.values.end(), value);
    if (tensor.name != "cs") continue;
    const std::int64_t computed = spec.dimensions.front() == "T" ? problem.extents.S : kAll;
    if (read < elements_in_rows(tensor.shape, computed)) facts.consistent_saved = false;
  }
}

std::vector<ReadableTensor> readable_tensors(const Case& c) {
  const Problem problem = shaped_problem(c);
  std::vector<ReadableTensor> out;
  for (const Tensor& tensor : problem.inputs) {
    const TensorSpec& spec = spec_of(problem.op, tensor);
    const std::int64_t readable = elements_read(problem, tensor);
    if (!spec.is_int64 && readable > 0) out.push_back({spec.name, readable});
  }
  return out;
}

NonfinitePlace nonfinite_place(std::uint64_t seed, const std::vector<ReadableTensor>& tensors) {
  const RandomStream stream(seed, kNonfinite);
  const ReadableTensor& tensor = tensors[stream.choice(0, static_cast<std::int64_t>(tensors.size()))];
  return {tensor.name, stream.choice(1, tensor.readable), tensor.readable};
}

void plant_nonfinite(const Case& c, Problem& problem, DataFacts& facts) {
  const std::vector<ReadableTensor> candidates = readable_tensors(c);
  if (candidates.empty()) return;
  const NonfinitePlace place = nonfinite_place(c.seed, candidates);
  const double value = c.data == DataProfile::kNan
                           ? std::numeric_limits<double>::quiet_NaN()
                           : std::numeric_limits<double>::infinity() * RandomStream(c.seed, kNonfinite).sign(2);
  std::ranges::find(problem.inputs, place.tensor, &Tensor::name)->values[place.index] = value;
  facts.nonfinite = true;
  if (place.tensor == "cs" || place.tensor == "co") facts.consistent_saved = false;
}

}  // namespace backgauge
