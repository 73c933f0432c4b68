// SPDX-License-Identifier: Apache-2.0
// What an implementation says of itself, read for one problem, and what can be judged of one that says so.
#pragma once

#include <string>

#include "properties/case/inputs.h"
#include "reference/oracle.h"

namespace backgauge {

// The claims on an op, or nullptr.
const backgauge_op_claims* claims_of(const backgauge_implementation& implementation, backgauge_op op);

// Why a legal problem is not to be run with these claims: the capability it lacks. "" if it is to be run.
std::string unclaimed(const backgauge_op_claims* claims, const Problem& problem, const DataFacts& facts);

// Why there is no asking for the masks of a problem that they decide about; "" if there is.
std::string why_masks_unavailable(const backgauge_implementation& implementation, const Problem& problem);

Declared declared(const backgauge_op_claims& claims, backgauge_dtype dtype);

// Why nothing that a program with these declarations makes of a problem is right or wrong; "" if it can be judged.
std::string undecidable(const Declared& declared, const Problem& problem, const DataFacts& facts);

// What the facts of the data make of the roundings.
RoundingErrors rounding_errors_of(const DataFacts& facts);

// True where masks decide what is right: 0 < dropout < 1 between at least two layers.
bool has_random_dropout(const Problem& problem);

}  // namespace backgauge
