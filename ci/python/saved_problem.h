// SPDX-License-Identifier: Apache-2.0
// A problem of Python as files.
#pragma once

#include <map>
#include <string>

#include "ci/python/user_problem.h"
#include "properties/case/line/filled.h"

namespace backgauge::python {

// Writes the folder of `backgauge oracle --inputs`, and the outputs to outputs/ in it. Throws std::invalid_argument
// with the reason if that fails.
void save_problem(const std::string& folder, const Filled& filled, const std::map<std::string, UserArray>& outputs);

}  // namespace backgauge::python
