// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/own_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "ci/options/cli_options.h"
#include "ci/run/plan/refuse.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/line/case_attributes.h"
#include "properties/case/stored/saved_co.h"
#include "reference/contract/owned_call.h"
#include "reference/contract/validate.h"

namespace backgauge::cli {
namespace {

template <class Number>
Number number_of(const std::string& name, const std::string& value) {
  if (const std::optional<Number> number = number_in<Number>(value)) return *number;
  refuse("{}: expected a {}, got {}", name, std::is_integral_v<Number> ? "whole number" : "number", value);
}

std::int32_t truth_of(const std::string& name, const std::string& value) {
  if (value == "1" || value == "true" || value == "True") return 1;
  if (value == "0" || value == "false" || value == "False") return 0;
  refuse("{}: expected true or false, got {}", name, value);
}

void read_attribute(const AttributeSpec& attribute, const std::string& value, backgauge_attributes& out) {
  const std::string name(attribute.name);
  if (attribute.real != nullptr) {
    out.*attribute.real = number_of<float>(name, value);
  } else if (attribute.integer != nullptr) {
    out.*attribute.integer = number_of<std::int64_t>(name, value);
  } else if (attribute.is_flag()) {
    out.*attribute.choice = truth_of(name, value);
  } else {
    out.*attribute.choice = enumerator_named(name, attribute.tensorflow_word, value);
  }
}

backgauge_attributes attributes_of(const OpSpec& spec, const std::map<std::string, std::string>& given) {
  backgauge_attributes out{};
  for (const AttributeSpec& attribute : attribute_specs()) {
    if (attribute.choice != nullptr) out.*attribute.choice = attribute.usual;
  }
  std::vector<std::string_view> names;
  for (const AttributeSpec& attribute : spec.attributes()) names.push_back(attribute.name);
  for (const auto& [name, value] : given) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      refuse("{}: {} has no such attribute; it has {}", name, spec.tensorflow, fmt::join(names, ", "));
    }
    read_attribute(spec.attributes()[static_cast<std::size_t>(found - names.begin())], value, out);
  }
  return out;
}

// The shape of an input that a size is taken from.
Shape shape_of(const OwnProblem& given, const TensorSpec& input) {
  const auto found = given.inputs.find(std::string(input.name));
  if (found == given.inputs.end()) refuse("{}: missing", input.name);
  const Shape& shape = found->second.shape;
  const std::size_t rank = input.dimensions.size();
  if (shape.size() != rank) refuse("{}: expected {} dimensions, got {}", input.name, rank, to_string(shape));
  return shape;
}

// "H", from the first input that has it as a dimension of its own; from one that is never read only if no other has it.
// 1 if nothing says it.
std::int64_t size_of(const OpSpec& spec, const OwnProblem& given, std::string_view size) {
  for (const bool wanted : {true, false}) {
    for (const TensorSpec& input : spec.inputs) {
      const auto at = std::ranges::find(input.dimensions, size) - input.dimensions.begin();
      const bool is_read = input.rows({.S = 1}) > 0;
      if (at == std::ssize(input.dimensions) || is_read != wanted) continue;
      if (is_read || given.inputs.contains(std::string(input.name))) {
        return shape_of(given, input)[static_cast<std::size_t>(at)];
      }
    }
  }
  return 1;
}

Extents extents_of(const OpSpec& spec, const OwnProblem& given, const backgauge_attributes& attributes) {
  Extents e;
  apply_attributes(spec, attributes, e);
  for (const SizeSpec& size : spec.sizes()) {
    if (size.is_dim()) e.*size.extent = size_of(spec, given, {&size.letter, 1});
  }
  if (const TensorSpec& states = spec.input(Role::kState); states.dimensions.front() == "L * D") {
    const Shape shape = shape_of(given, states);
    if (shape[0] < e.D || shape[0] % e.D != 0) {
      refuse("{}: expected layers * {} rows, got {}", states.name, e.D, to_string(shape));
    }
    e.L = shape[0] / e.D;
  }
  for (const TensorSpec& length : spec.inputs) {
    if (!length.is_int64) continue;
    shape_of(given, length);
    e.S = static_cast<std::int64_t>(given.inputs.at(std::string(length.name)).values[0]);
  }
  return e;
}

// Refuses inputs that the op does not have, and lengths that are not integers.
void check_names(const OpSpec& spec, const OwnProblem& given) {
  std::vector<std::string_view> names;
  for (const TensorSpec& input : spec.inputs) names.push_back(input.name);
  for (const auto& [name, array] : given.inputs) {
    const auto input = std::ranges::find(spec.inputs, name, &TensorSpec::name);
    if (input == spec.inputs.end()) {
      refuse("{}: {} has no such input; it has {}", name, spec.tensorflow, fmt::join(names, ", "));
    }
    const auto number = std::ranges::find(kFloatDtypes, array.dtype, dtype_word);
    if (input->is_int64) {
      if (array.dtype != dtype_word(BACKGAUGE_INT64)) {
        refuse("{}: expected a whole number, int64, got {}", name, array.dtype);
      }
      shape_of(given, *input);
    }
    if (!input->is_int64 && number == std::end(kFloatDtypes)) {
      refuse("{}: expected floating-point numbers, float16, bfloat16, float32 or float64, got {}", name, array.dtype);
    }
  }
}

// The dtype that all inputs have.
backgauge_dtype dtype_of(const OpSpec& spec, const OwnProblem& given) {
  std::string first, word;
  for (const auto& [name, array] : given.inputs) {
    if (array.dtype == dtype_word(BACKGAUGE_INT64)) continue;  // a length
    if (word.empty()) first = name, word = array.dtype;
    if (array.dtype != word) refuse("{}: expected {} as {}, got {}", name, word, first, array.dtype);
  }
  if (word.empty()) refuse("inputs: expected those of {}, got none", spec.tensorflow);
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
  Shape expected = shape_of_keep(e, e.L - 1);
  if (given.keep_shape.empty()) refuse("dropout_keep: expected the masks, {}, got none", to_string(expected));
  const auto masks = static_cast<std::size_t>(given.keep_shape.front());
  if (is_mask_count(masks, e)) expected.front() = given.keep_shape.front();
  if (given.keep_shape != expected) {
    refuse("dropout_keep: expected shape {}, got {}", to_string(expected), to_string(given.keep_shape));
  }
  const auto odd = std::ranges::find_if(given.keep, [](std::uint8_t kept) { return kept > 1; });
  if (odd != given.keep.end()) refuse("dropout_keep: expected 0 or 1, got {}", *odd);
  const auto size = static_cast<std::ptrdiff_t>(mask_elements(e));
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

Shape shape_of_keep(const Extents& extents, std::int64_t masks) {
  Shape shape = mask_shape(extents);
  shape.insert(shape.begin(), masks);
  return shape;
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
    const backgauge_dtype dtype = npy_dtype(file.type);
    const bool is_integer = file.type == NpyType::kInt64 || file.type == NpyType::kInt32;
    const bool is_known = dtype != BACKGAUGE_INT64 || is_integer;
    out.inputs[tensor.name] = {std::string(is_known ? dtype_word(dtype) : npy_word(file.type)), tensor.shape,
                               tensor.values};
  }
  for (std::size_t gap = 0; gap < masks.size(); ++gap) {
    const auto found = masks.find(fmt::format("dropout_mask_{}", gap));
    if (found == masks.end()) refuse("dropout_mask_{}: missing", gap);
    const Tensor& mask = found->second->tensor;
    Shape shape = mask.shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(masks.size()));
    if (gap > 0 && shape != out.keep_shape) refuse("dropout_mask_{}: has another shape than dropout_mask_0", gap);
    out.keep_shape = shape;
    for (const double value : mask.values) {
      if (value != 0 && value != 1) {
        refuse("{}: expected 1 where an element is kept and 0 where it is dropped, got {}", mask.name, value);
      }
      out.keep.push_back(value != 0);
    }
  }
  std::istringstream pairs(attributes);
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) refuse("--attributes: expected name=value, got {}", pair);
    if (pair.find_first_of(" \t") != pair.npos) {
      refuse("--attributes: expected name=value without blanks, got \"{}\"", pair);
    }
    const auto [place, is_new] = out.attributes.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    if (!is_new) refuse("--attributes: {} is given twice", place->first);
  }
  return out;
}

Filled own_problem(const OwnProblem& given) {
  const OpSpec& spec = gradient_named(given.op);
  Filled out;
  Problem& problem = out.problem;
  problem.op = spec.op;
  check_names(spec, given);
  problem.attributes = attributes_of(spec, given.attributes);
  problem.dtype = dtype_of(spec, given);
  problem.extents = extents_of(spec, given, problem.attributes);

  const DescribedCall described({problem.op, problem.dtype, problem.attributes, problem.extents});
  const Validation validation = validate_shapes(described.call);
  if (!validation.ok()) refuse("{}", validation.refusal);
  problem.extents = validation.extents;

  for (const TensorSpec& tensor : spec.inputs) {
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
  read_keep(given, problem);
  out.facts.structured = !given.independent_roundings;
  out.facts.consistent_saved = saved_co_is_tanh_of_cs(problem);
  out.checksum = checksum_of(problem);
  return out;
}

Case line_of(const Filled& own) {
  const Problem& problem = own.problem;
  const backgauge_attributes& a = problem.attributes;
  Case c{.op = problem.op};
  for (const SizeSpec& size : spec_of(c.op).sizes()) c.*case_member(size) = problem.extents.*size.extent;
  c.use_peephole = a.use_peephole != 0;
  c.rnn_mode = static_cast<backgauge_rnn_mode>(a.rnn_mode);
  c.input_mode = static_cast<backgauge_input_mode>(a.input_mode);
  c.direction = static_cast<backgauge_direction>(a.direction);
  c.dropout = std::stod(fmt::format("{}", a.dropout));  // 0.1, not the digits of the nearest float
  c.dtype = problem.dtype;
  c.data = DataProfile::kOwn;
  c.checksum = own.checksum;
  return c;
}

}  // namespace backgauge::cli
