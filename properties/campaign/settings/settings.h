// SPDX-License-Identifier: Apache-2.0
// The settings in which cases of an op differ, and the values that are distinguished. Coverage counts them, and
// covering arrays combine them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/campaign/settings/covering.h"
#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge {

struct Setting {
  std::string_view name;
  std::vector<std::string_view> values;
  int (*value_of)(const Case&);  // an index into values, or kUnset for golden vectors and shapes without elements
};

const std::vector<Setting>& settings_of(backgauge_op op);

// Dtypes of an op, float32 first.
using Dtypes = std::vector<backgauge_dtype>;

// The dtypes of an op in groups that are planned separately. A group added later has its own random streams and
// covering arrays, so that the cases of the other groups did not change.
std::vector<Dtypes> dtype_groups(backgauge_op op);

// A row is legal if the contract allows it and a case of it can prove something. README.md lists what is left out.
Factors factors_of(backgauge_op op);

// The same for a group of dtypes, in two parts, each with all its legal pairs and triples: data profiles whose elements
// are all drawn, and those with a structure (blank, alike, exact, lone). A profile added to one part does not change
// the cases of the other.
Factors drawn_factors(backgauge_op op, const Dtypes& dtypes);
Factors structured_factors(backgauge_op op, const Dtypes& dtypes);

Row row_of(const Case& c);

// On input a legal row without unset values. On output a case with row_of(case) == row; sizes, clip and dropout are
// drawn if the value of a setting leaves a choice.
Case case_of(backgauge_op op, const Row& row, Draws& draws);

// Data profiles to which only the rigorous bound applies, or which leave little of the gradients. Stacked nets then
// have one layer and few steps, where the bound is narrow enough to prove something.
bool needs_short_nets(DataProfile data);

}  // namespace backgauge
