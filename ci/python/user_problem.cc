// SPDX-License-Identifier: Apache-2.0
#include "ci/python/user_problem.h"

#include <nanobind/stl/string.h>

#include "ci/run/plan/own_problem.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

template <class Array>
Shape shape_of(const Array& values) {
  Shape shape;
  for (std::size_t k = 0; k < values.ndim(); ++k) shape.push_back(static_cast<std::int64_t>(values.shape(k)));
  return shape;
}

}  // namespace

std::map<std::string, UserArray> arrays_of(const nb::object& given) {
  std::map<std::string, UserArray> out;
  for (const auto& [name, pair] : nb::cast<nb::dict>(given)) {
    out[nb::cast<std::string>(name)] = {nb::cast<std::string>(pair[0]), nb::cast<Values>(pair[1])};
  }
  return out;
}

Filled problem_of(const nb::object& given) {
  cli::OwnProblem own;
  own.op = nb::cast<std::string>(given.attr("op"));
  own.independent_roundings = nb::cast<bool>(given.attr("independent_roundings"));
  const std::map<std::string, UserArray> inputs = arrays_of(given.attr("inputs"));
  for (const auto& [name, array] : inputs) {
    own.inputs[name] = {array.dtype, shape_of(array.values), {array.values.data(), array.values.size()}};
  }
  for (const auto& [name, value] : nb::cast<nb::dict>(given.attr("attributes"))) {
    own.attributes[nb::cast<std::string>(name)] = nb::cast<std::string>(nb::str(value));
  }
  if (const nb::object keep = given.attr("dropout_keep"); !keep.is_none()) {
    const auto masks = nb::cast<nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>>(keep);
    own.keep_shape = shape_of(masks);
    own.keep.assign(masks.data(), masks.data() + masks.size());
  }
  return cli::own_problem(own);
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
