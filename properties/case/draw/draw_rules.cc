// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/draw_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "properties/case/draw/input_ranges.h"
#include "properties/case/draw/ops/entry.h"
#include "properties/case/line/shaped_problem.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// Scale of element k of a tiny upstream gradient. Most elements have the first scale: near the end of the range an
// implementation may flush subnormals, so that little can be concluded there.
double tiny_scale(backgauge_dtype dtype, std::size_t k) {
  const std::size_t level = k % 11 == 5 ? 2 : k % 5 == 3 ? 1 : 0;
  return input_range(dtype).tiny[level];
}

double huge_scale(const Case& c) {
  const InputRange& range = input_range(c.dtype);
  if (!range.huge_shrinks) return range.huge;
  const double terms =
      static_cast<double>(std::max<std::int64_t>(c.B, 1)) * static_cast<double>(std::max<std::int64_t>(c.T, 1));
  return range.huge / std::sqrt(terms);
}

// The gain of kTame. A matrix of independent weights multiplies the norm of a gradient by its gain, times the scale of
// the gate and the slope there. With 0.3 that is at most 0.3 * 2.25 * 1 for the tanh of an LSTM, and 0.3 * 3.4 / 4,
// 0.3 * 1.5 / 4 and 0.3 / 4 for its gates, 0.74 together. So every step shrinks the carried gradient, and it does not
// grow even over a thousand steps.
constexpr double kTameGain = 0.3;

double density_of(const Case& c) {
  const std::int64_t longest = std::max(4 * c.H, c.I + c.H);  // the longest sum of products with weights
  const std::int64_t terms = input_range(c.dtype).sparse_terms;
  return longest > terms ? static_cast<double>(terms) / static_cast<double>(longest) : 1;
}

// The upstream gradient of a case of kSparse: the first steps and every n-th row. The gradients of later steps are 0.
void thin_out_upstream(const Crew& crew, const Case& c, Tensor& tensor) {
  const InputRange& range = input_range(c.dtype);
  const std::int64_t stride = std::max<std::int64_t>(1, c.B / range.sparse_rows);
  const std::int64_t row = RandomStream(c.seed, "kept_row").choice(0, stride), width = tensor.shape.back();
  const bool sequence = spec_of(c.op, tensor).dimensions.front() == "T";
  each_value(crew, tensor, [&](std::size_t k, double& value) {
    const std::int64_t sample = static_cast<std::int64_t>(k) / width % c.B;
    const std::int64_t step = sequence ? static_cast<std::int64_t>(k) / width / c.B : c.T - 1;
    if (step >= range.sparse_steps || sample % stride != row) value = 0;
  });
}

// Rounds towards 0, to a power of two.
double plain(double value) {
  int exponent = 0;
  if (std::frexp(value, &exponent) == 0) return 0;
  return std::copysign(std::ldexp(0.5, exponent), value);
}

}  // namespace

DrawRules draw_rules(const Case& c) {
  // Another name of the stream would change the values of all case lines.
  const RandomStream stream(c.seed, "regime");
  constexpr double kGains[] = {0.3, 1.2, 1.2, 1.2, 2.5, 5};  // 1.2 in half of the cases
  DrawRules rules{};
  rules.gain = kGains[stream.choice(0, 6)];
  rules.bias = 0.5;
  rules.forget_bias = stream.choice(1, 2) == 0;
  rules.consistent = stream.choice(2, 5) < 3;  // 60 %
  rules.upstream = 1;
  rules.density = 1;
  rules.poison = static_cast<Poison>(stream.choice(3, 4));
  switch (c.data) {
    case DataProfile::kSaturated:
      rules.gain = 10;
      rules.consistent = true;
      break;
    case DataProfile::kLinear:
      rules.gain = rules.bias = 0.01;
      rules.forget_bias = false;
      break;
    case DataProfile::kLarge:
    case DataProfile::kPlain:
    case DataProfile::kConstant: rules.consistent = false; break;
    case DataProfile::kTraining:
      rules.consistent = true;
      rules.poison = Poison::kPlausible;  // for programs that compute the saved tensors themselves
      break;
    case DataProfile::kTame: rules.gain = kTameGain; break;
    case DataProfile::kSparse:
      rules.gain = kTameGain;
      rules.density = density_of(c);
      break;
    case DataProfile::kBlank:
    case DataProfile::kAlike:
    case DataProfile::kExact:
    case DataProfile::kLone: rules.consistent = rules.consistent && !structure_of(c)->chooses_saved; break;
    case DataProfile::kHuge:
      rules.upstream = huge_scale(c);
      rules.bounded_upstream = true;
      break;
    default: break;
  }
  draw_ops::entry_of(c.op).adapt(c, stream, rules);
  return rules;
}

void fill_normal(const Crew& crew, const Case& c, Tensor& tensor, double scale) {
  const RandomStream stream(c.seed, tensor.name);
  each_value(crew, tensor, [&](std::size_t k, double& value) { value = stream.normal(k) * scale; });
}

void fill_bounded(const Crew& crew, const Case& c, Tensor& tensor, double scale) {
  const RandomStream stream(c.seed, tensor.name);
  each_value(crew, tensor, [&](std::size_t k, double& value) {
    const double z = 2 * stream.normal(k);
    value = z / (1 + std::fabs(z)) * scale;
  });
}

void fill_large_states(const Crew& crew, const Case& c, Tensor& tensor) {
  const std::int64_t octaves = input_range(c.dtype).state_octaves;
  const RandomStream magnitude(c.seed, tensor.name), octave(c.seed, tensor.name + "/octave"),
      sign(c.seed, tensor.name + "/sign");
  each_value(crew, tensor, [&](std::size_t k, double& value) {
    const double base = 10 * (1 + 0.95 * magnitude.uniform(k)) * sign.sign(k);
    value = std::ldexp(base, static_cast<int>(octave.choice(k, octaves)));
  });
}

void thin_out(const Crew& crew, const Case& c, double density, Tensor& tensor, std::int64_t first, std::int64_t count) {
  if (density >= 1) return;
  const RandomStream kept(c.seed, tensor.name + "/kept");
  crew.over(static_cast<std::size_t>(count), [&](std::size_t from, std::size_t to) {
    for (std::size_t k = static_cast<std::size_t>(first) + from; k < static_cast<std::size_t>(first) + to; ++k) {
      if (kept.uniform(static_cast<std::int64_t>(k)) >= density) tensor.values[k] = 0;
    }
  });
}

void fill_upstream(const Crew& crew, const Case& c, const DrawRules& rules, Tensor& tensor) {
  if (rules.bounded_upstream) {
    fill_bounded(crew, c, tensor, rules.upstream);
  } else {
    fill_normal(crew, c, tensor, rules.upstream);
  }
  if (c.data == DataProfile::kTiny) {
    each_value(crew, tensor, [&](std::size_t k, double& value) { value *= tiny_scale(c.dtype, k); });
  }
  if (c.data == DataProfile::kSparse) thin_out_upstream(crew, c, tensor);
  if (c.data != DataProfile::kScales) return;
  // One scale per batch row, for all steps and tensors. With one per step, the largest step would hide the others.
  const int largest = input_range(c.dtype).row_octaves;
  const RandomStream exponent(c.seed, "row_scale");
  const std::int64_t width = tensor.shape.back();
  each_value(crew, tensor, [&](std::size_t k, double& value) {
    const std::int64_t row = static_cast<std::int64_t>(k) / width % c.B;
    value = std::ldexp(value, static_cast<int>(exponent.choice(row, 2 * largest + 1)) - largest);
  });
}

void round_all(backgauge_dtype dtype, std::span<double> values) {
  std::uint64_t elements[256];
  for (std::size_t first = 0; first < values.size(); first += std::size(elements)) {
    const std::span<double> some = values.subspan(first, std::min(std::size(elements), values.size() - first));
    encode(dtype, some, elements);
    decode(dtype, elements, some);
  }
}

void finish(const Crew& crew, const Case& c, Tensor& tensor) {
  const RandomStream zeros(c.seed, tensor.name + "/zero");
  crew.over(tensor.values.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      double& value = tensor.values[k];
      if (c.data == DataProfile::kConstant) value = 0.1;
      if (c.data == DataProfile::kPlain) value = plain(value);
      if (c.data == DataProfile::kZeros && zeros.choice(k, 10) == 0) value = 0;
    }
    round_all(c.dtype, std::span(tensor.values).subspan(first, last - first));
  });
}

}  // namespace backgauge
