// SPDX-License-Identifier: Apache-2.0
// Problems, and outputs to be judged, that a user gives as arrays of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <string>
#include <vector>

#include "properties/case/line/filled.h"
#include "properties/judge/compare/judge_outputs.h"

namespace backgauge::python {

using Values = nanobind::ndarray<const double, nanobind::c_contig, nanobind::device::cpu>;

struct UserArray {
  std::string dtype;  // of the array before its values became double: f16, bf16, f32, f64, i64
  Values values;
};

// A dict of name to (word of the dtype, values in float64).
std::map<std::string, UserArray> arrays_of(const nanobind::object& given);

// The problem of ci/run/plan/own_problem.h. On input an object with the attributes
//   op                     TensorFlow's name
//   inputs                 as arrays_of() takes them
//   attributes             dict of TensorFlow's names and words; those left out have TensorFlow's defaults
//   dropout_keep           masks, uint8 [L-1, T, B, D*H] or [(L-1)*D, T, B, D*H]; None if no element may be dropped
//   independent_roundings  bool
// Throws std::invalid_argument.
Filled problem_of(const nanobind::object& given);

// The outputs of a problem.
std::vector<GivenTensor> outputs_of(const std::map<std::string, UserArray>& outputs);

}  // namespace backgauge::python
