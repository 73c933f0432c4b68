// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/independence.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "properties/case/line/shaped_problem.h"
#include "reference/contract/dtypes.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

// bounds.md 6.4: a rounding error within +-u has a variance of u^2 / 3, and the model counts u^2.
constexpr std::size_t kMostRepeats = 3;

// How many numbers in a row make a word. Two of float32 have 48 bits, so that no word of random ones repeats. Five of
// 11 or 8 bits have 55 or 40: among ten million of the latter, no word occurs four times in 99,999 tensors of 100,000.
std::size_t word_length(backgauge_dtype dtype) { return is_narrow(dtype) ? 5 : 2; }

std::span<const double> read_of(const Problem& problem, const Tensor& tensor, const TensorSpec& spec) {
  const auto rows = static_cast<std::size_t>(elements_in_rows(tensor.shape, spec.rows(problem.extents)));
  return std::span(tensor.values).first(std::min(rows, tensor.values.size()));
}
// In flat params, biases follow the weights.
std::span<const double> without_biases(const Problem& problem, Role role, std::span<const double> values) {
  if (role != Role::kWeight || !traits_of(problem.op).flat_params) return values;
  const Extents& e = problem.extents;
  return values.first(static_cast<std::size_t>(rnn_params(problem.attributes, e.I, e.H, e.L).matrices()));
}

// Whether results are only as random as its values are. The others are multiplied by, or added to, numbers that are
// random if these are.
bool must_not_repeat(const OpSpec& op, Role role) {
  if (op.traits.takes_saved) return role == Role::kWeight || role == Role::kSaved;
  return role == Role::kData || role == Role::kState || role == Role::kCellState || role == Role::kWeight;
}

// How often the most frequent word occurs: the significands of elements that are not 0. Sign and exponent of a number
// change nothing about its roundings.
std::size_t most_repeats(std::span<const double> values, std::size_t length) {
  constexpr std::uint64_t kSignificand = (std::uint64_t{1} << 52) - 1, kOdd = 0x9e3779b97f4a7c15;
  std::vector<std::uint64_t> significands;
  for (const double value : values) {
    if (value != 0) significands.push_back(std::bit_cast<std::uint64_t>(value) & kSignificand);
  }
  std::vector<std::uint64_t> words;
  words.reserve(significands.size());
  for (std::size_t k = 0; k < significands.size(); ++k) {
    std::uint64_t word = 0;
    for (std::size_t n = 0; n < length; ++n) {
      word = (word ^ significands[(k + n) % significands.size()]) * kOdd;
      word ^= word >> 29;
    }
    words.push_back(word);
  }
  std::ranges::sort(words);
  std::size_t most = 0;
  for (auto first = words.begin(); first != words.end();) {
    const auto last = std::upper_bound(first, words.end(), *first);
    most = std::max(most, static_cast<std::size_t>(last - first));
    first = last;
  }
  return most;
}

// The least number whose square is a normal number of the format in which the dtype is computed.
double least_factor(backgauge_dtype dtype, const Declared& declared) {
  const bool narrow = is_narrow(dtype) && declared.accuracy_class == BACKGAUGE_CLASS_B;
  return std::sqrt(float_format(is_narrow(dtype) && !narrow ? BACKGAUGE_FLOAT32 : dtype).least_normal);
}

// The least gradient that is carried from step to step as a normal number.
double least_carried(backgauge_dtype dtype, const Declared& declared) {
  return declared.accuracy_class == BACKGAUGE_CLASS_A ? 0 : float_format(dtype).least_normal;
}

// What follows from values below a number; "" if there are none.
std::string underflow(const Tensor& tensor, std::span<const double> values, double least, const char* what) {
  const auto small = std::ranges::count_if(values, [&](double v) { return v != 0 && std::fabs(v) < least; });
  if (small == 0) return "";
  return fmt::format("{} of the {} values of {} are below 2^{} and not 0, so that {}", small, values.size(),
                     tensor.name, std::lround(std::log2(least)), what);
}

}  // namespace

std::string why_not_independent(const Problem& problem, const Declared& declared) {
  const OpSpec& op = spec_of(problem.op);
  for (const Tensor& tensor : problem.inputs) {
    const TensorSpec& spec = spec_of(problem.op, tensor);
    if (spec.is_int64) continue;
    const std::span<const double> values = read_of(problem, tensor, spec);
    std::string small = underflow(tensor, values, least_factor(problem.dtype, declared), "products of them underflow");
    if (small.empty() && is_upstream(spec.role)) {
      small = underflow(tensor, values, least_carried(problem.dtype, declared),
                        "what is carried from step to step underflows");
    }
    if (!small.empty()) return small;
    if (!must_not_repeat(op, spec.role)) continue;
    const std::size_t repeats = most_repeats(without_biases(problem, spec.role, values), word_length(problem.dtype));
    if (repeats > kMostRepeats) return fmt::format("values of {} repeat up to {} times", tensor.name, repeats);
  }
  return "";
}

}  // namespace backgauge
