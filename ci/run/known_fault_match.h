// SPDX-License-Identifier: Apache-2.0
// Finds known faults (properties/saboteurs) that give the same numbers as a failing implementation.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/compare/judge_values.h"
#include "properties/judge/runner/runner.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// Runs the gradient, and before it the forward if the op has one, in the same runner.
std::vector<RunResult> run_everything(Runner& runner, const Problem& problem, const RunOptions& options);

// The outputs of such results, as stored outputs.
std::vector<GivenTensor> given_of(const std::vector<RunResult>& results, backgauge_dtype dtype);

// On input a problem without random dropout, its expected outputs, and those that were computed instead. On output "the
// same numbers as a known error: dcs' not carried (lstm)", with up to three faults that match all elements of all
// outputs as closely as properties/explain/hint.h demands; "" if none or more than three match. Described faults have
// priority over generated ones.
std::string known_fault_match(const Problem& problem, const std::vector<Wanted>& wanted,
                              const std::vector<GivenTensor>& given);

}  // namespace backgauge::cli
