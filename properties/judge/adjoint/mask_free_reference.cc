// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/adjoint/mask_free_reference.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "properties/case/line/random.h"
#include "properties/judge/adjoint/slope.h"
#include "reference/contract/storage.h"
#include "reference/rounding_model.h"

namespace backgauge {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

using Masks = std::vector<std::vector<std::uint8_t>>;

Problem with_drawn_masks(Problem problem, std::uint64_t seed, int draw) {
  const Extents& e = problem.extents;
  const auto elements = static_cast<std::size_t>(mask_elements(e));
  Masks& masks = problem.keep;
  masks.assign(static_cast<std::size_t>(e.L - 1), std::vector<std::uint8_t>(elements));
  for (std::size_t gap = 0; gap < masks.size(); ++gap) {
    // The name of a stream decides its numbers, and so verdicts: it stays as it is.
    const RandomStream stream(seed, "stand_in/" + std::to_string(draw) + "/" + std::to_string(gap));
    for (std::size_t k = 0; k < masks[gap].size(); ++k) {
      masks[gap][k] =
          stream.uniform(static_cast<std::int64_t>(k)) >= static_cast<double>(problem.attributes.dropout) ? 1 : 0;
    }
  }
  return problem;
}

// Every element is multiplied by the mean of its mask, which is 1.
Problem without_dropout(Problem problem) {
  problem.attributes.dropout = 0;
  return problem;
}

// Raises `errors` to the largest errors of outputs before their last rounding.
void raise(std::vector<std::vector<double>>& errors, const std::vector<Wanted>& wanted, backgauge_dtype dtype) {
  errors.resize(wanted.size());
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    errors[t].resize(wanted[t].value.size());
    for (std::size_t k = 0; k < errors[t].size(); ++k) {
      const double last = bound_when_stored(static_cast<double>(wanted[t].value[k]), 0, dtype);
      const double before = wanted[t].allowed[k] - last;
      errors[t][k] = std::max(errors[t][k], std::isnan(before) ? kUnknown : before);
    }
  }
}

bool is_in_range(const std::vector<Wanted>& wanted, backgauge_dtype dtype) {
  const auto largest = static_cast<long double>(float_format(dtype).largest);
  for (const Wanted& tensor : wanted) {
    for (std::size_t k = 0; k < tensor.value.size(); ++k) {
      if (!(std::fabs(tensor.value[k]) + static_cast<long double>(tensor.allowed[k]) <= largest)) return false;
    }
  }
  return true;
}

// A term that is exactly zero if everything is kept is also zero if elements are dropped. A relu is the exception:
// dropping may open one that was closed. With tanh instead of relu nothing is closed.
const std::vector<Wanted>& zeros_of(Problem problem, ExpectedOutputs& expected, const Declared& declared) {
  if (problem.attributes.rnn_mode == BACKGAUGE_RNN_RELU) problem.attributes.rnn_mode = BACKGAUGE_RNN_TANH;
  return expected.rigorous_gradient(problem, declared);
}

}  // namespace

MaskFreeReference mask_free_reference(const Problem& problem, ExpectedOutputs& expected, const Declared& declared,
                                      std::uint64_t seed) {
  MaskFreeReference result;
  const bool finite = !expected.facts().nonfinite;
  result.in_range = finite;
  const Problem mean = without_dropout(problem);
  const std::vector<Wanted>& zeros = zeros_of(mean, expected, declared);
  for (const Problem& masked : {mean, with_drawn_masks(problem, seed, 0), with_drawn_masks(problem, seed, 1)}) {
    result.forward = expected.forward(masked, declared);
    result.gradient = expected.gradient(masked, declared);
    raise(result.forward_errors, result.forward, problem.dtype);
    raise(result.gradient_errors, result.gradient, problem.dtype);
    for (const std::vector<Wanted>* outputs : {&result.forward, &result.gradient}) {
      result.in_range = result.in_range && is_in_range(*outputs, problem.dtype);
    }
  }
  // Kinks are measured in the outputs themselves, whatever the length of a step.
  result.long_steps = has_long_steps(problem, declared) && problem.attributes.rnn_mode != BACKGAUGE_RNN_RELU;
  result.draw = [&problem, seed,
                 draws = std::deque<MaskFreeReference::Draw>()](int k) mutable -> const MaskFreeReference::Draw& {
    while (draws.size() <= static_cast<std::size_t>(k)) {
      Problem masked = with_drawn_masks(problem, seed, static_cast<int>(draws.size()));
      std::vector<Tensor> gradient = oracle_values(masked);
      draws.push_back({std::move(masked), std::move(gradient)});
    }
    return draws[static_cast<std::size_t>(k)];
  };
  const Extents& e = problem.extents;
  for (Wanted& wanted : result.forward) {
    const auto known = static_cast<std::size_t>(wanted.name == "output" ? 0 : e.D * e.B * e.H);
    std::fill(wanted.allowed.begin() + static_cast<std::ptrdiff_t>(known), wanted.allowed.end(), kUnknown);
  }
  for (std::size_t t = 0; t < result.gradient.size(); ++t) {
    Wanted& wanted = result.gradient[t];
    for (std::size_t k = 0; k < wanted.allowed.size(); ++k) {
      const bool zero = zeros[t].value[k] == 0 && zeros[t].allowed[k] == 0;
      wanted.allowed[k] = zero ? 0 : kUnknown;
      if (zero) wanted.value[k] = 0;
    }
  }
  if (result.in_range) return result;
  if (!finite) {
    for (Wanted& wanted : result.gradient) std::ranges::fill(wanted.allowed, kUnknown);
  }
  for (std::vector<Wanted>* outputs : {&result.forward, &result.gradient}) {
    for (Wanted& wanted : *outputs) {
      for (std::size_t k = 0; k < wanted.allowed.size(); ++k) {
        if (wanted.allowed[k] == kUnknown) wanted.value[k] = std::numeric_limits<long double>::quiet_NaN();
      }
    }
  }
  return result;
}

}  // namespace backgauge
