// SPDX-License-Identifier: Apache-2.0
// Known faults (properties/saboteurs) that give the numbers which a failing implementation gave.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/compare/judge_values.h"
#include "properties/judge/runner/runner.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// The gradient, and before it the forward of a gradient that has one, in the same runner.
std::vector<RunResult> run_everything(Runner& runner, const Problem& problem, const RunOptions& options);

// The outputs of such results, as stored outputs.
std::vector<GivenTensor> given_of(const std::vector<RunResult>& results, backgauge_dtype dtype);

// On input a problem without random dropout, what is wanted of it, and what was computed instead. On output "the same
// numbers as a known error: dcs' not carried (lstm)", or with two or three such faults, if all elements of all outputs
// are met as closely as properties/explain/hint.h asks; "" if no known fault does that, or more than three do. Faults
// that somebody has described go before those that are made by rule.
std::string known_fault_match(const Problem& problem, const std::vector<Wanted>& wanted,
                              const std::vector<GivenTensor>& given);

}  // namespace backgauge::cli
