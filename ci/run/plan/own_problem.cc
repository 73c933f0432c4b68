// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/own_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "ci/run/plan/refuse.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/stored/saved_co.h"
#include "reference/contract/owned_call.h"
#include "reference/contract/validate.h"

namespace backgauge::cli {
namespace {

template <class Number>
Number number_of(const std::string& name, const std::string& value) {
  Number number{};
  const char* const end = value.data() + value.size();
  const auto [stop, trouble] = std::from_chars(value.data(), end, number);
  if (trouble != std::errc() || stop != end) {
    refuse("{}: expected a {}, got {}", name, std::is_integral_v<Number> ? "whole number" : "number", value);
  }
  return number;
}

std::int32_t truth_of(const std::string& name, const std::string& value) {
  if (value == "1" || value == "true" || value == "True") return 1;
  if (value == "0" || value == "false" || value == "False") return 0;
  refuse("{}: expected true or false, got {}", name, value);
}

backgauge_attributes attributes_of(const OpSpec& spec, const std::map<std::string, std::string>& given) {
  backgauge_attributes out{};
  out.rnn_mode = BACKGAUGE_LSTM;
  out.input_mode = BACKGAUGE_LINEAR_INPUT;
  out.direction = BACKGAUGE_UNIDIRECTIONAL;
  using Read = std::function<void(const std::string&, const std::string&)>;
  std::map<std::string, Read> known;
  if (spec.traits.is_stacked) {
    const auto word = [](std::int32_t& to, std::string_view (*words)(std::int32_t)) -> Read {
      return [&to, words](const auto& name, const auto& value) { to = enumerator_named(name, words, value); };
    };
    const auto number = [](auto& to) -> Read {
      return [&to](const auto& name, const auto& value) { to = number_of<std::decay_t<decltype(to)>>(name, value); };
    };
    known = {{"rnn_mode", word(out.rnn_mode, rnn_mode_attribute)},
             {"input_mode", word(out.input_mode, input_mode_attribute)},
             {"direction", word(out.direction, direction_attribute)},
             {"dropout", number(out.dropout)},
             {"seed", number(out.seed)},
             {"seed2", number(out.seed2)}};
  } else {
    known["use_peephole"] = [&](const auto& name, const auto& value) { out.use_peephole = truth_of(name, value); };
  }
  for (const auto& [name, value] : given) {
    const auto found = known.find(name);
    if (found != known.end()) {
      found->second(name, value);
      continue;
    }
    std::string names;
    for (const auto& each : known) names += (names.empty() ? "" : ", ") + each.first;
    refuse("{}: {} has no such attribute; it has {}", name, spec.tensorflow, names);
  }
  return out;
}

// The shape of an input that the sizes are taken from.
Shape sizes_from(const OwnProblem& given, const std::string& name, std::size_t rank) {
  const auto found = given.inputs.find(name);
  if (found == given.inputs.end()) refuse("{}: missing", name);
  const Shape& shape = found->second.shape;
  if (shape.size() != rank) refuse("{}: expected {} dimensions, got {}", name, rank, to_string(shape));
  return shape;
}

Extents extents_of(const OpSpec& spec, const OwnProblem& given, const backgauge_attributes& attributes) {
  Extents e;
  if (spec.traits.is_stacked) {
    const Shape input = sizes_from(given, "input", 3), input_h = sizes_from(given, "input_h", 3);
    e.T = e.S = input[0], e.B = input[1], e.I = input[2], e.H = input_h[2];
    e.D = attributes.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
    if (input_h[0] < e.D || input_h[0] % e.D != 0) {
      refuse("input_h: expected layers * {} rows, got {}", e.D, to_string(input_h));
    }
    e.L = input_h[0] / e.D;
    e.lstm = attributes.rnn_mode == BACKGAUGE_LSTM;
    return e;
  }
  const Shape cs_prev = sizes_from(given, "cs_prev", 2);
  e.T = e.S = 1, e.B = cs_prev[0], e.H = cs_prev[1], e.I = 1;
  e.peephole = attributes.use_peephole != 0;
  if (spec.traits.has_steps) {
    const Shape x = sizes_from(given, "x", 3);
    e.T = e.S = x[0], e.I = x[2];
  } else if (given.inputs.contains("x")) {
    e.I = sizes_from(given, "x", 2)[1];
  }
  if (spec.traits.has_seq_len_max) {
    sizes_from(given, "seq_len_max", 0);
    e.S = static_cast<std::int64_t>(given.inputs.at("seq_len_max").values[0]);
  }
  return e;
}

// The dtype that all inputs have.
backgauge_dtype dtype_of(const OpSpec& spec, const OwnProblem& given) {
  std::string first, word;
  for (const auto& [name, array] : given.inputs) {
    if (array.dtype == dtype_word(BACKGAUGE_INT64)) continue;
    if (word.empty()) first = name, word = array.dtype;
    if (array.dtype != word) refuse("{}: expected {} as {}, got {}", name, word, first, array.dtype);
  }
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if (dtype_word(dtype) == word && (spec.dtypes & BACKGAUGE_BIT(dtype)) != 0) return dtype;
  }
  refuse("{}: {} has no dtype {}", first, spec.tensorflow, word);
}

// Whether the forward that belongs to the op computes it.
bool is_computed(const OpSpec& spec, std::string_view name) {
  if (!spec.traits.forward) return false;
  return std::ranges::any_of(spec_of(*spec.traits.forward).outputs,
                             [&](const TensorSpec& output) { return output.name == name; });
}

void read_keep(const OwnProblem& given, Problem& problem) {
  const Extents& e = problem.extents;
  const float dropout = problem.attributes.dropout;
  if (!(dropout > 0) || dropout >= 1 || e.L < 2) return;
  const Shape expected{e.L - 1, e.T, e.B, e.D * e.H};
  if (given.keep_shape.empty()) refuse("dropout_keep: expected the masks, {}, got none", to_string(expected));
  if (given.keep_shape != expected) {
    refuse("dropout_keep: expected shape {}, got {}", to_string(expected), to_string(given.keep_shape));
  }
  const auto size = static_cast<std::ptrdiff_t>(e.T * e.B * e.D * e.H);
  for (auto mask = given.keep.begin(); mask != given.keep.end(); mask += size) {
    problem.keep.emplace_back(mask, mask + size);
  }
}

Tensor read_input(const OwnProblem& given, const TensorSpec& tensor, const Extents& e) {
  const Shape shape = tensor.shape(e);
  Tensor out{std::string(tensor.name), shape, {}};
  const auto found = given.inputs.find(out.name);
  if (found != given.inputs.end()) {
    const OwnArray& array = found->second;
    if (array.shape != shape)
      refuse("{}: expected shape {}, got {}", tensor.name, to_string(shape), to_string(array.shape));
    out.values.assign(array.values.begin(), array.values.end());
  } else if (tensor.rows(e) <= 0) {  // it is not read
    out.values.assign(static_cast<std::size_t>(element_count(shape).value()), 0);
  } else {
    refuse("{}: missing; expected shape {}", tensor.name, to_string(shape));
  }
  return out;
}

}  // namespace

const OpSpec& gradient_named(const std::string& op) {
  std::vector<std::string_view> known;
  for (const backgauge_op each : gradient_ops()) {
    const OpSpec& spec = spec_of(each);
    if (spec.tensorflow == op || spec.word == op) return spec;
    known.push_back(spec.tensorflow);
  }
  refuse("op: expected one of {}, got {}", fmt::join(known, ", "), op);
}

OwnProblem problem_of_files(const std::vector<OutputFile>& files, const std::string& op, const std::string& attributes,
                            bool independent_roundings) {
  OwnProblem out;
  out.op = op;
  out.independent_roundings = independent_roundings;
  std::map<std::string, const OutputFile*> masks;
  for (const OutputFile& file : files) {
    const Tensor& tensor = file.tensor;
    if (tensor.name.starts_with("dropout_mask_")) {
      masks[tensor.name] = &file;
      continue;
    }
    const bool whole = file.type == NpyType::kInt64 || file.type == NpyType::kInt32;
    const backgauge_dtype dtype = npy_dtype(file.type);
    if (dtype == BACKGAUGE_INT64 && !whole) refuse("{}: expected floating-point numbers", tensor.name);
    out.inputs[tensor.name] = {std::string(dtype_word(dtype)), tensor.shape, tensor.values};
  }
  for (std::size_t gap = 0; gap < masks.size(); ++gap) {
    const auto found = masks.find(fmt::format("dropout_mask_{}", gap));
    if (found == masks.end()) refuse("dropout_mask_{}: missing", gap);
    const Tensor& mask = found->second->tensor;
    Shape shape = mask.shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(masks.size()));
    if (gap > 0 && shape != out.keep_shape) refuse("dropout_mask_{}: has another shape than dropout_mask_0", gap);
    out.keep_shape = shape;
    for (const double value : mask.values) out.keep.push_back(value != 0);
  }
  std::istringstream pairs(attributes);
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) refuse("--attributes: expected name=value, got {}", pair);
    out.attributes[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return out;
}

Filled own_problem(const OwnProblem& given) {
  const OpSpec& spec = gradient_named(given.op);
  Filled out;
  Problem& problem = out.problem;
  problem.op = spec.op;
  problem.attributes = attributes_of(spec, given.attributes);
  problem.dtype = dtype_of(spec, given);
  problem.extents = extents_of(spec, given, problem.attributes);

  DescribedCall described({problem.op, problem.dtype, problem.attributes, problem.extents});
  if (spec.traits.has_seq_len_max) described.seq_len_max() = problem.extents.S;
  const Validation validation = validate_shapes(described.call);
  if (!validation.ok()) refuse("{}", validation.refusal);
  problem.extents = validation.extents;

  std::set<std::string> known;
  for (const TensorSpec& tensor : spec.inputs) {
    known.emplace(tensor.name);
    if (tensor.present != nullptr && !tensor.present(problem.extents)) {
      if (given.inputs.contains(std::string(tensor.name))) refuse("{}: this call has no such tensor", tensor.name);
      continue;
    }
    if (is_computed(spec, tensor.name)) continue;
    problem.inputs.push_back(read_input(given, tensor, problem.extents));
    const Tensor& input = problem.inputs.back();
    const auto read = static_cast<std::size_t>(elements_in_rows(input.shape, tensor.rows(problem.extents)));
    out.facts.nonfinite |=
        std::ranges::any_of(std::span(input.values).first(read), [](double value) { return !std::isfinite(value); });
  }
  for (const auto& [name, array] : given.inputs) {
    if (!known.contains(name)) refuse("{}: {} has no such input", name, spec.tensorflow);
  }
  read_keep(given, problem);
  out.facts.structured = !given.independent_roundings;
  out.facts.consistent_saved = saved_co_is_tanh_of_cs(problem);
  out.checksum = checksum_of(problem);
  return out;
}

Case line_of(const Filled& own) {
  const Problem& problem = own.problem;
  const Extents& e = problem.extents;
  const backgauge_attributes& a = problem.attributes;
  Case c{.op = problem.op, .T = e.T, .B = e.B, .I = e.I, .H = e.H, .seq_len_max = e.S};
  c.use_peephole = a.use_peephole != 0;
  c.layers = e.L;
  if (spec_of(problem.op).traits.is_stacked) {
    c.rnn_mode = static_cast<backgauge_rnn_mode>(a.rnn_mode);
    c.input_mode = static_cast<backgauge_input_mode>(a.input_mode);
    c.direction = static_cast<backgauge_direction>(a.direction);
    c.dropout = std::stod(fmt::format("{}", a.dropout));  // 0.1, not the digits of the nearest float
  }
  c.dtype = problem.dtype;
  c.data = DataProfile::kOwn;
  c.checksum = own.checksum;
  return c;
}

}  // namespace backgauge::cli
