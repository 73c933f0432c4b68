// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/adjoint/slope.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "properties/case/line/random.h"
#include "properties/judge/compare/run_verdicts.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/storage.h"
#include "reference/rounding_model.h"

namespace backgauge {
namespace {

using Elements = std::vector<std::size_t>;

// Unit roundoff of a forward: that of its dtype, or of its operands if they are narrower.
long double coarsest_roundoff(const Problem& problem, const Declared& declared) {
  return static_cast<long double>(
      std::max(float_format(problem.dtype).unit_roundoff, rounding_model(problem, declared).operand_roundoff));
}

// The relative change r of outputs that a step should cause. Eight roundings make a slope uncertain by 8 u / r. A
// smooth slope changes by about r^2 over the step; both are equal at r = (8 u)^(1/3). A slope with kinks changes by
// about the share of units that cross a kink, r; both are equal at r = (8 u)^(1/2).
long double wanted_response(bool kinks, long double roundoff) {
  return kinks ? std::sqrt(8 * roundoff) : std::cbrt(8 * roundoff);
}

// A step never changes an element by more than half of the usual size of its tensor, which is twice this factor.
constexpr long double kLongest = 0.25L;

// A step is never shorter than this part of the first one: outputs close to 0 do not show how long it may be.
constexpr long double kMostShortened = 0x1p-10L;

// The first step is kept if its response is within this factor of the desired one.
constexpr long double kNearEnough = 2;

long double usual_size(const Tensor& tensor, const Elements& elements) {
  long double squares = 0;
  std::size_t counted = 0;
  for (const std::size_t at : elements) {
    const auto value = static_cast<long double>(tensor.values[at]);
    if (value == 0 || !std::isfinite(value)) continue;
    squares += value * value;
    ++counted;
  }
  return counted == 0 ? 1 : std::sqrt(squares / static_cast<long double>(counted));
}

class Walker {
 public:
  Walker(Runner& runner, const Problem& problem, const std::vector<Output>& made, const RunOptions& options)
      : runner_(runner), problem_(problem), made_(made), options_(options), forward_(forward_problem(problem)) {
    for (const Output& output : made) {
      if (output.raw.name == "reserve_space") continue;
      const Tensor& upstream = upstream_of(problem, output.raw.name);
      for (std::size_t k = 0; k < output.values.size(); ++k) {
        const long double term =
            static_cast<long double>(upstream.values[k]) * static_cast<long double>(output.values[k]);
        squares_ += term * term;
      }
    }
  }

  // Adds a step. On output why that failed, or nullopt.
  std::optional<Verdict> walk(Slope& slope, const std::vector<double>& signs, long double size) {
    Step step;
    step.size = size;
    Tensor& moving = input(slope.input);
    const std::vector<double> here = moving.values;
    std::vector<double> up = here, down = here;
    for (std::size_t k = 0; k < slope.elements.size(); ++k) {
      const std::size_t at = slope.elements[k];
      const double by = static_cast<double>(size) * signs[k];
      up[at] = round_to(problem_.dtype, here[at] + by);
      down[at] = round_to(problem_.dtype, here[at] - by);
      const auto above = static_cast<long double>(up[at]), below = static_cast<long double>(down[at]);
      step.moved.push_back(above - below);
      step.shifted.push_back((above + below) / 2 - static_cast<long double>(here[at]));
    }
    moving.values = up;
    const RunResult upper = runner_.run(forward_, {}, options_);
    moving.values = down;
    const RunResult lower = runner_.run(forward_, {}, options_);
    moving.values = here;
    for (const RunResult* result : {&upper, &lower}) {
      if (auto verdict = verdict_of_failed_run(*result)) return verdict;
    }
    compare(upper.outputs, lower.outputs, step);
    slope.steps.push_back(std::move(step));
    return std::nullopt;
  }

  // The relative change of the outputs.
  long double response(const Step& step) const { return step.response / 2 / std::sqrt(squares_); }

 private:
  Tensor& input(std::string_view name) {
    return *std::ranges::find_if(forward_.inputs, [&](const Tensor& each) { return each.name == name; });
  }

  void compare(const std::vector<Output>& upper, const std::vector<Output>& lower, Step& step) const {
    long double responses = 0;
    for (std::size_t t = 0; t < made_.size(); ++t) {
      if (made_[t].raw.name == "reserve_space") continue;
      const Tensor& upstream = upstream_of(problem_, made_[t].raw.name);
      for (std::size_t k = 0; k < made_[t].values.size(); ++k) {
        const auto weight = static_cast<long double>(upstream.values[k]);
        if (weight == 0) continue;
        const auto above = static_cast<long double>(upper[t].values[k]),
                   below = static_cast<long double>(lower[t].values[k]),
                   middle = static_cast<long double>(made_[t].values[k]);
        const long double term = weight * (above - below);
        step.rise += term;
        responses += term * term;
        step.bend += std::fabs(weight * ((above - middle) - (middle - below)));
        for (const double value : {upper[t].values[k], lower[t].values[k]}) {
          const long double off =
              std::fabs(weight) * static_cast<long double>(bound_when_stored(value, 0, problem_.dtype));
          step.last_roundings += off;
          step.last_squares += off * off;
        }
      }
    }
    step.response = std::sqrt(responses);
  }

  Runner& runner_;
  const Problem& problem_;
  const std::vector<Output>& made_;
  const RunOptions& options_;
  Problem forward_;
  long double squares_ = 0;  // of upstream times output
};

void append(Elements& to, std::int64_t begin, std::int64_t count) {
  for (std::int64_t k = begin; k < begin + count; ++k) to.push_back(static_cast<std::size_t>(k));
}

std::vector<Slope> listed(const Problem& problem) {
  std::vector<Slope> all;
  const RnnParams layout = rnn_params(problem.attributes, problem.extents.I, problem.extents.H, problem.extents.L);
  const bool kinks = problem.attributes.rnn_mode == BACKGAUGE_RNN_RELU;
  const auto add = [&](const std::string& input, const std::string& part, Elements elements) {
    // A unit whose terms are all 0 is at its kink, where there is no slope. It stays there if none of them changes.
    if (kinks && (input == "params" || (input == "input" && layout.skip_input))) {
      const std::vector<double>& at = problem.find(input)->values;
      std::erase_if(elements, [&](std::size_t k) { return at[k] == 0; });
    }
    if (!elements.empty()) all.push_back({input, input + "_backprop", part, std::move(elements), {}});
  };
  for (const char* name : {"input", "input_h", "input_c"}) {
    const Tensor* tensor = problem.find(name);
    if (tensor == nullptr) continue;
    Elements whole;
    append(whole, 0, static_cast<std::int64_t>(tensor->values.size()));
    add(name, "", std::move(whole));
  }
  const Extents& e = problem.extents;
  Elements W, R, biases;
  for (std::int64_t layer = 0; layer < e.L; ++layer) {
    for (std::int64_t direction = 0; direction < e.D; ++direction) {
      append(W, layout.W(layer, direction, 0), layout.gates * e.H * layout.matrix_input(layer));
      append(R, layout.R(layer, direction, 0), layout.gates * e.H * e.H);
    }
  }
  append(biases, layout.matrices(), layout.size() - layout.matrices());
  add("params", "W", std::move(W));
  add("params", "R", std::move(R));
  add("params", "biases", std::move(biases));
  return all;
}

}  // namespace

bool has_long_steps(const Problem& problem, const Declared& declared) {
  return coarsest_roundoff(problem, declared) >= 0x1p-11L;
}

const Tensor& upstream_of(const Problem& problem, std::string_view output) {
  const Tensor* tensor = problem.find(std::string(output) + "_backprop");
  if (tensor == nullptr) throw std::logic_error("no upstream gradient for " + std::string(output));
  return *tensor;
}

Slopes measure_slopes(Runner& runner, const Problem& problem, const std::vector<Output>& made, const Declared& declared,
                      const RunOptions& options, std::uint64_t seed) {
  const bool kinks = problem.attributes.rnn_mode == BACKGAUGE_RNN_RELU;
  const long double wanted = wanted_response(kinks, coarsest_roundoff(problem, declared));
  Walker walker(runner, problem, made, options);
  Slopes result{listed(problem), std::nullopt};
  for (Slope& slope : result.slopes) {
    const RandomStream stream(seed, "adjoint/" + slope.input + slope.part);
    std::vector<double> signs;
    for (std::size_t k = 0; k < slope.elements.size(); ++k) signs.push_back(stream.sign(static_cast<std::int64_t>(k)));
    const long double usual = usual_size(*problem.find(slope.input), slope.elements);
    long double size = std::min(wanted, kLongest) * usual;
    if (result.failure = walker.walk(slope, signs, size); result.failure) return result;
    const long double ratio =
        wanted / walker.response(slope.steps[0]);  // inf if no output changes, NaN if the change is not finite
    if (ratio > kNearEnough || ratio < 1 / kNearEnough) {
      slope.steps.clear();
      size = std::min(size * std::max(ratio, kMostShortened), kLongest * usual);
      if (result.failure = walker.walk(slope, signs, size); result.failure) return result;
    }
    for (const long double other : kinks ? std::vector{size / 2} : std::vector{size / 2, size * 2}) {
      if (result.failure = walker.walk(slope, signs, other); result.failure) return result;
    }
    if (result.failure = verdict_of_failed_run(runner.end_case()); result.failure) return result;
  }
  return result;
}

}  // namespace backgauge
