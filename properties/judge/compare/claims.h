// SPDX-License-Identifier: Apache-2.0
// The claims of an implementation, applied to one problem.
#pragma once

#include <optional>
#include <string>

#include "properties/case/line/filled.h"
#include "reference/oracle.h"

namespace backgauge {

// The claims on an op, if there are any. Throws std::invalid_argument if the registry would refuse them.
std::optional<Claims> claims_of(const backgauge_implementation& implementation, backgauge_op op);

// Why no call can be made on this machine: the implementation needs a device, and there is none. "" if calls can be
// made.
std::string lack_of_device(const backgauge_implementation& implementation);

// Why a legal problem is not run with these claims: the capability that is not claimed. "" if it is run.
std::string unclaimed(const std::optional<Claims>& claims, const Problem& problem, const DataFacts& facts);

// Why the dropout masks of a problem with random dropout cannot be queried; "" if they can, or if there are none.
std::string why_masks_unavailable(const backgauge_implementation& implementation, const Problem& problem);

// Why results of a problem cannot be judged for an implementation with these declarations; "" if they can.
std::string undecidable(const Declared& declared, const DataFacts& facts);

// True if correct results depend on dropout masks: 0 < dropout < 1, and at least two layers.
bool has_random_dropout(const Problem& problem);

}  // namespace backgauge
