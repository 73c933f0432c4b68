// SPDX-License-Identifier: Apache-2.0
#include "ci/python/user_problem.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>
#include <string_view>

#include "ci/python/refuse.h"
#include "ci/python/words.h"
#include "reference/contract/owned_call.h"
#include "reference/contract/validate.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

std::int32_t word_at(const nb::dict& given, const char* name, std::string_view (*word_of)(std::int32_t)) {
  const std::string word = nb::cast<std::string>(nb::str(nb::object(given[name])));
  const std::int32_t enumerator = enumerator_of(word_of, word);
  if (enumerator == 0) refuse(name, ": unknown value ", word);
  return enumerator;
}

backgauge_attributes attributes_of(const OpSpec& spec, const nb::dict& given) {
  backgauge_attributes out{};
  out.rnn_mode = BACKGAUGE_LSTM;
  out.input_mode = BACKGAUGE_LINEAR_INPUT;
  out.direction = BACKGAUGE_UNIDIRECTIONAL;
  std::map<std::string, std::function<void(const char*)>> known;
  if (spec.traits.is_stacked) {
    known["rnn_mode"] = [&](const char* name) { out.rnn_mode = word_at(given, name, rnn_mode_attribute); };
    known["input_mode"] = [&](const char* name) { out.input_mode = word_at(given, name, input_mode_attribute); };
    known["direction"] = [&](const char* name) { out.direction = word_at(given, name, direction_attribute); };
    known["dropout"] = [&](const char* name) { out.dropout = nb::cast<float>(given[name]); };
    known["seed"] = [&](const char* name) { out.seed = nb::cast<std::int64_t>(given[name]); };
    known["seed2"] = [&](const char* name) { out.seed2 = nb::cast<std::int64_t>(given[name]); };
  } else {
    known["use_peephole"] = [&](const char* name) { out.use_peephole = nb::cast<bool>(given[name]) ? 1 : 0; };
  }
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    const auto found = known.find(name);
    if (found == known.end()) {
      std::string names;
      for (const auto& each : known) names += (names.empty() ? "" : ", ") + each.first;
      refuse(name, ": ", spec.tensorflow, " has no such attribute; it has ", names);
    }
    try {
      found->second(name.c_str());
    } catch (const nb::cast_error&) {
      refuse(name, ": a value of another type was expected, got ", nb::cast<std::string>(nb::repr(value)));
    }
  }
  return out;
}

Shape shape_of(const Values& values) {
  Shape shape;
  for (std::size_t k = 0; k < values.ndim(); ++k) shape.push_back(static_cast<std::int64_t>(values.shape(k)));
  return shape;
}

// The shape of an input that the sizes are taken from.
Shape sizes_from(const UserProblem& given, const std::string& name, std::size_t rank) {
  const auto found = given.inputs.find(name);
  if (found == given.inputs.end()) refuse(name, ": missing");
  Shape shape = shape_of(found->second.values);
  if (shape.size() != rank) refuse(name, ": expected ", std::to_string(rank), " dimensions, got ", to_string(shape));
  return shape;
}

Extents extents_of(const OpSpec& spec, const UserProblem& given, const backgauge_attributes& attributes) {
  Extents e;
  if (spec.traits.is_stacked) {
    const Shape input = sizes_from(given, "input", 3), input_h = sizes_from(given, "input_h", 3);
    e.T = e.S = input[0], e.B = input[1], e.I = input[2], e.H = input_h[2];
    e.D = attributes.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
    if (input_h[0] < e.D || input_h[0] % e.D != 0) {
      refuse("input_h: expected layers * ", std::to_string(e.D), " rows, got ", to_string(input_h));
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
    e.S = static_cast<std::int64_t>(*given.inputs.at("seq_len_max").values.data());
  }
  return e;
}

// The dtype that all inputs have.
backgauge_dtype dtype_of(const OpSpec& spec, const UserProblem& given) {
  std::string first, word;
  for (const auto& [name, array] : given.inputs) {
    if (array.dtype == dtype_word(BACKGAUGE_INT64)) continue;
    if (word.empty()) first = name, word = array.dtype;
    if (array.dtype != word) refuse(name, ": expected ", word, " as ", first, ", got ", array.dtype);
  }
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if (dtype_word(dtype) == word && (spec.dtypes & BACKGAUGE_BIT(dtype)) != 0) return dtype;
  }
  refuse(first, ": ", spec.tensorflow, " has no dtype ", word);
}

// Whether the forward that belongs to the op computes it.
bool is_computed(const OpSpec& spec, std::string_view name) {
  if (!spec.traits.forward) return false;
  return std::ranges::any_of(spec_of(*spec.traits.forward).outputs,
                             [&](const TensorSpec& output) { return output.name == name; });
}

void read_keep(const nb::object& given, Problem& problem) {
  const Extents& e = problem.extents;
  const float dropout = problem.attributes.dropout;
  if (!(dropout > 0) || e.L < 2) return;
  const auto gaps = static_cast<std::size_t>(e.L - 1), size = static_cast<std::size_t>(e.T * e.B * e.D * e.H);
  const Shape expected{e.L - 1, e.T, e.B, e.D * e.H};
  if (dropout >= 1) return;
  if (given.is_none()) refuse("dropout_keep: expected the masks, ", to_string(expected), ", got none");
  const auto masks = nb::cast<nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>>(given);
  Shape shape;
  for (std::size_t k = 0; k < masks.ndim(); ++k) shape.push_back(static_cast<std::int64_t>(masks.shape(k)));
  if (shape != expected) refuse("dropout_keep: expected shape ", to_string(expected), ", got ", to_string(shape));
  for (std::size_t gap = 0; gap < gaps; ++gap) {
    problem.keep.emplace_back(masks.data() + gap * size, masks.data() + (gap + 1) * size);
  }
}

}  // namespace

Filled problem_of(const UserProblem& given) {
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
  if (!validation.ok()) refuse(validation.refusal);
  problem.extents = validation.extents;

  std::set<std::string> known;
  for (const TensorSpec& tensor : spec.inputs) {
    known.emplace(tensor.name);
    if (tensor.present != nullptr && !tensor.present(problem.extents)) {
      if (given.inputs.contains(std::string(tensor.name))) refuse(tensor.name, ": this call has no such tensor");
      continue;
    }
    if (is_computed(spec, tensor.name)) continue;
    const Shape shape = tensor.shape(problem.extents);
    const auto found = given.inputs.find(std::string(tensor.name));
    Tensor filled{std::string(tensor.name), shape, {}};
    const auto elements = static_cast<std::size_t>(element_count(shape).value());
    if (found != given.inputs.end()) {
      const Shape got = shape_of(found->second.values);
      if (got != shape) refuse(tensor.name, ": expected shape ", to_string(shape), ", got ", to_string(got));
      const double* values = found->second.values.data();
      filled.values.assign(values, values + elements);
    } else if (tensor.rows(problem.extents) <= 0) {
      filled.values.assign(elements, 0);  // it is not read
    } else {
      refuse(tensor.name, ": missing; expected shape ", to_string(shape));
    }
    out.facts.nonfinite |= std::ranges::any_of(filled.values, [](double value) { return !std::isfinite(value); });
    problem.inputs.push_back(std::move(filled));
  }
  for (const auto& [name, array] : given.inputs) {
    if (!known.contains(name)) refuse(name, ": ", spec.tensorflow, " has no such input");
  }
  read_keep(given.keep, problem);
  out.facts.structured = !given.independent_roundings;
  out.facts.consistent_saved = false;  // nobody said that they come from a forward
  return out;
}

std::vector<GivenTensor> outputs_of(const std::map<std::string, UserArray>& outputs) {
  std::vector<GivenTensor> out;
  for (const auto& [name, array] : outputs) {
    const std::int32_t dtype = enumerator_of(dtype_word, array.dtype);
    const double* values = array.values.data();
    out.push_back({name, shape_of(array.values), static_cast<backgauge_dtype>(dtype),
                   std::vector<double>(values, values + array.values.size())});
  }
  return out;
}

}  // namespace backgauge::python
