// SPDX-License-Identifier: Apache-2.0
// The verdict on outputs that Python has.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>

#include "ci/python/user_problem.h"
#include "properties/judge/compare/expected_outputs.h"

namespace backgauge::python {

enum class Inputs { kGenerated, kOwn };

// On input the outputs of a gradient, in the dtypes that they have. On output (word of the verdict, lines that explain
// it). The caller holds the GIL, which is released while this computes.
nanobind::tuple verdict_on(const std::map<std::string, UserArray>& outputs, ExpectedOutputs& expected,
                           const Problem& problem, const Claims& claims, Inputs inputs);

}  // namespace backgauge::python
