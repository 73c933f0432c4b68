// SPDX-License-Identifier: Apache-2.0
// The values that an output would have if a part of it were missing or counted more than once.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "reference/oracle.h"

namespace backgauge {

using Values64 = std::vector<double>;

// Takes a known error, and the values of all elements of an output that has it.
using Consider = std::function<void(const std::string& text, const Values64& values)>;

// What a part of an output, or a term of a sum, is multiplied by through a simple error.
struct WrongFactor {
  double factor;
  const char* text;
};
inline constexpr std::array<WrongFactor, 5> kWrongFactors{{{-1, "has the wrong sign"},
                                                           {0, "is missing"},
                                                           {0.5, "is halved"},
                                                           {2, "is counted twice"},
                                                           {3, "is counted three times"}}};

// The row of ops.inc of an output. Throws std::logic_error if the op has no output of that name.
const TensorSpec& output_of(const Problem& problem, const Wanted& wanted);

// The output with one part of it at a time multiplied by one of these factors: a gate, the rows of x or h in w_grad,
// the first and the last step or row. For example "the part 'gate o' is missing".
void for_each_wrong_part(const Problem& problem, const Wanted& wanted, const Consider& consider);

}  // namespace backgauge
