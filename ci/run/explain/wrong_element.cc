// SPDX-License-Identifier: Apache-2.0
#include "ci/run/explain/wrong_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "ci/run/explain/known_fault_match.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/compare.h"

namespace backgauge::cli {
namespace {

constexpr std::int64_t kAround = 3;   // neighbours on either side: a line of seven numbers fits a terminal
constexpr std::size_t kMostRows = 4;  // of a tensor whose rows the element does not select

// The position of an element along the dimensions of its output: {"B": 2, "4 * H": 9, "H": 1}.
using Place = std::map<std::string_view, std::int64_t>;

const TensorSpec& tensor_spec(const std::vector<TensorSpec>& specs, const std::string& name) {
  return *std::ranges::find(specs, name, &TensorSpec::name);
}

Place place_of(const TensorSpec& spec, const Extents& e, const std::vector<std::int64_t>& index) {
  Place place;
  for (std::size_t k = 0; k < index.size(); ++k) {
    const std::string_view dimension = spec.dimensions[k];
    place[dimension] = index[k];
    if (dimension == "4 * H") place["H"] = index[k] % e.H;
    if (dimension == "I + H" && index[k] < e.I) place["I"] = index[k];
  }
  return place;
}

std::string row_text(const std::vector<double>& values, std::int64_t begin, std::int64_t end) {
  std::string text;
  for (std::int64_t k = begin; k < end; ++k) {
    if (k >= static_cast<std::int64_t>(values.size())) return text + " (the rest is never read and has no values)";
    text += fmt::format(" {:.6g}", values[static_cast<std::size_t>(k)]);
  }
  return text;
}

// The rows of an input at the position of the element, along the dimensions that they share.
std::string input_text(const Tensor& tensor, const TensorSpec& spec, const Extents& extents, const Place& place) {
  const Shape& shape = tensor.shape;
  if (spec.rows(extents) <= 0) return fmt::format("  {} is never read in this case\n", tensor.name);
  if (shape.empty()) return fmt::format("  {}{}\n", tensor.name, row_text(tensor.values, 0, 1));
  const std::int64_t width = shape.back(), elements = element_count(shape).value_or(0);
  if (elements == 0) return fmt::format("  {} {} is empty\n", tensor.name, to_string(shape));
  std::int64_t begin = 0;
  if (const auto known = place.find(spec.dimensions.back()); known != place.end()) {
    begin = std::max<std::int64_t>(0, known->second - kAround);
  }
  const std::int64_t end = std::min(width, begin + 2 * kAround + 1);
  std::string text;
  std::size_t rows = 0;
  for (std::int64_t row = 0; row < elements / width && rows <= kMostRows; ++row) {
    std::vector<std::int64_t> index = index_of(shape, row * width + begin);
    bool apart = false;
    for (std::size_t k = 0; k + 1 < index.size(); ++k) {
      const auto known = place.find(spec.dimensions[k]);
      apart = apart || (known != place.end() && known->second != index[k]);
    }
    if (apart) continue;
    if (++rows > kMostRows) {
      text += fmt::format("  {} ...\n", tensor.name);
      break;
    }
    text += fmt::format("  {}{}{}{}\n", tensor.name, index_text(shape, row * width + begin), end < width ? " on" : "",
                        row_text(tensor.values, row * width + begin, row * width + end));
  }
  return text;
}

// The first element outside its bound, or -1.
std::int64_t first_wrong(const Wanted& wanted, const std::vector<double>& got, backgauge_dtype dtype,
                         const Declared& declared) {
  for (std::size_t k = 0; k < got.size(); ++k) {
    const Wanted one{wanted.name, {1}, {wanted.value[k]}, {wanted.allowed[k]}};
    if (compare(one, std::span(&got[k], 1), {}, dtype, declared).bad > 0) return static_cast<std::int64_t>(k);
  }
  return -1;
}

std::string output_text(const Wanted& wanted, const std::vector<double>& got, std::int64_t element) {
  const std::int64_t width = wanted.shape.empty() ? 1 : wanted.shape.back(), row = element / width * width;
  std::string text = fmt::format("  {:<16} {:>14} {:>14} {:>14}\n", "", "want", "allowed", "got");
  for (std::int64_t k = std::max(row, element - kAround); k <= std::min(row + width - 1, element + kAround); ++k) {
    const auto at = static_cast<std::size_t>(k);
    text +=
        fmt::format("{} {:<16} {:>14.9g} {:>14.3g} {:>14.9g}\n", k == element ? '>' : ' ', index_text(wanted.shape, k),
                    static_cast<double>(wanted.value[at]), wanted.allowed[at], got[at]);
  }
  return text;
}

}  // namespace

std::string numbers_text(Runner& runner, const Case& c, const Verdict& verdict, int num_threads) {
  if (verdict.tensors.empty()) return "no numbers to show: no output was compared\n";
  const auto bad = std::ranges::find_if(verdict.tensors, [](const TensorReport& tensor) { return tensor.bad > 0; });
  const TensorReport& report = bad == verdict.tensors.end() ? verdict.tensors.front() : *bad;
  const Filled filled = fill(c);
  const Problem& problem = filled.problem;
  CaseSession session(runner, problem, filled.facts);
  if (session.draws_masks()) return "no numbers to show: the dropout masks are the implementation's own\n";

  const Declared declaration = session.declared();
  RunOptions options;
  options.num_threads = num_threads;
  const std::vector<GivenTensor> given = given_by(session, options);
  runner.end_case();
  const std::vector<Wanted> wanted = ExpectedOutputs(filled.facts).all(problem, declaration);
  const auto want = std::ranges::find(wanted, report.name, &Wanted::name);
  const auto got = std::ranges::find(given, report.name, &GivenTensor::name);
  if (want == wanted.end() || got == given.end() || got->values.size() != want->value.size()) {
    return fmt::format("no numbers to show: the second run did not return {}\n", report.name);
  }
  const std::int64_t wrong = first_wrong(*want, got->values, problem.dtype, declaration);
  const std::int64_t element = wrong >= 0 ? wrong : std::max<std::int64_t>(report.worst, 0);
  if (got->values.empty()) return fmt::format("no numbers to show: {} is empty\n", report.name);

  const bool is_forward =
      std::ranges::find(find_op(c.op)->outputs, report.name, &TensorSpec::name) == find_op(c.op)->outputs.end();
  const OpSpec& spec = spec_of(is_forward ? traits_of(c.op).forward.value() : c.op);
  std::string text = fmt::format("{}{}, {}\n{}inputs\n", report.name, index_text(want->shape, element),
                                 wrong >= 0 ? "the first wrong element" : "the element closest to its limit",
                                 output_text(*want, got->values, element));
  const Place place = place_of(tensor_spec(spec.outputs, report.name), problem.extents, index_of(want->shape, element));
  for (const Tensor& tensor : problem.inputs) {
    text += input_text(tensor, tensor_spec(find_op(c.op)->inputs, tensor.name), problem.extents, place);
  }
  return text;
}

}  // namespace backgauge::cli
