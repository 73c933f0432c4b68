// SPDX-License-Identifier: Apache-2.0
// Known faults (properties/saboteurs) that give the numbers which a failing implementation gave.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/runner.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// Runs the forward of a gradient first, where it has one, in the same runner.
RunResult run_gradient(Runner& runner, const Problem& problem, const RunOptions& options);

// On input a problem without random dropout, what is wanted of it, and what was computed instead. On output "the same
// numbers as with: dcs' not carried (lstm) [B6]", or with two or three such faults, if all elements of all outputs are
// met as closely as properties/judge/hint.h asks; "" if no known fault does that, or more than three do.
std::string likeness(const Problem& problem, const std::vector<Wanted>& wanted, const std::vector<Output>& outputs);

}  // namespace backgauge::cli
