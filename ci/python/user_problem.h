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

struct UserProblem {
  std::string op;  // TensorFlow's name
  std::map<std::string, UserArray> inputs;
  nanobind::dict attributes;  // TensorFlow's names and words; those left out have TensorFlow's defaults
  nanobind::object keep;      // masks, uint8 [L-1, T, B, D*H]; None if no element may be dropped
  bool independent_roundings;
};

// The problem of ci/run/plan/own_problem.h. Throws std::invalid_argument.
Filled problem_of(const UserProblem& given);

// The outputs of a problem.
std::vector<GivenTensor> outputs_of(const std::map<std::string, UserArray>& outputs);

}  // namespace backgauge::python
