// SPDX-License-Identifier: Apache-2.0
// A case as a problem without values, and what the table of its op says about its inputs.
#pragma once

#include "properties/case/line/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// The problem of a case with the shapes of all inputs that fill() draws, without values.
Problem shaped_problem(const Case& c);

// The row of ops.inc of an input. Throws std::logic_error if the op has no input of that name.
const TensorSpec& spec_of(backgauge_op op, const Tensor& tensor);

// The dtype of an input in memory and in files.
backgauge_dtype dtype_of(const Problem& problem, const Tensor& tensor);

}  // namespace backgauge
