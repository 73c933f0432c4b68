// SPDX-License-Identifier: Apache-2.0
// Finds known faults (properties/saboteurs) that give the same numbers as a failing implementation.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/compare/judge_outputs.h"
#include "properties/judge/runner/case_session.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// Makes all calls of a case and returns their outputs, as stored outputs.
std::vector<GivenTensor> given_by(CaseSession& session, const RunOptions& options);

// The known faults that explain the outputs `given` of a problem without random dropout, for example "all outputs match
// those of a known error: dcs' lacks f (saboteur:A21.block)". Names up to three faults that match all elements of all
// outputs as closely as properties/explain/hint.h demands; "" if none or more than three match, or if the problem has
// more than kFewMultiplications (saboteurs/effort.h). Described faults have priority over generated ones.
std::string known_fault_match(const Problem& problem, const std::vector<Wanted>& wanted,
                              const std::vector<GivenTensor>& given);

}  // namespace backgauge::cli
