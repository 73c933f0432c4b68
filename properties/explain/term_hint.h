// SPDX-License-Identifier: Apache-2.0
// Finds the one term of the equations that, if it is wrong, gives exactly the values of all outputs.
#pragma once

#include <string>
#include <vector>

#include "properties/explain/wrong_parts.h"

namespace backgauge {

// Whether the equations can be evaluated on it, or slow implementations run, hundreds of times within seconds.
bool is_quick(const Problem& problem);

// On input a quick problem, all its wanted outputs, and the values that were computed for each of them. On output for
// example "the term 'di wci' is missing (to 6 digits)": terms have the names of reference/arithmetic/named_terms.h, and
// are missing, of the wrong sign, halved, or counted more than once wherever they occur, in all steps and layers. Every
// output must agree as closely as hint.h demands. If two terms fit, both are reported; if none or more, the result is
// "".
std::string term_hint(const Problem& problem, const std::vector<Wanted>& wanted, const std::vector<Values64>& got);

}  // namespace backgauge
