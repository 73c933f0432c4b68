// SPDX-License-Identifier: Apache-2.0
// The settings that cases of an op differ in, each with the values that are told apart: what coverage counts and what
// covering arrays are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/campaign/covering.h"
#include "properties/campaign/draws.h"
#include "properties/case/case.h"

namespace backgauge {

struct Setting {
  std::string_view name;
  std::vector<std::string_view> values;
  int (*value_of)(const Case&);  // an index into values, or kUnset: golden vectors and shapes without elements
};

const std::vector<Setting>& settings_of(backgauge_op op);

// The dtypes that an op has, float32 first.
std::vector<backgauge_dtype> dtypes_of(backgauge_op op);

// Legal: the contract allows it, and a case of it can prove something. README.md has the list of what is left out.
Factors factors_of(backgauge_op op);

// The same in two parts, each with every legal pair and triple of its own, so that a class that comes into one leaves
// the cases of the other as they were: classes of which every element is drawn, and those with a structure (blank,
// alike, exact, lone).
Factors drawn_factors(backgauge_op op);
Factors structured_factors(backgauge_op op);

Row row_of(const Case& c);

// On input a legal row without unset values. On output a case with row_of(case) == row; dims, clip and dropout are
// drawn where a value of a setting leaves a choice.
Case case_of(backgauge_op op, const Row& row, Draws& draws);

// Classes of which only the rigorous bound holds, or which leave little of the gradients: of stacked nets one layer and
// few steps, where that bound is sharp enough to prove something.
bool needs_short_nets(DataClass data);

}  // namespace backgauge
