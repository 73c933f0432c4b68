// SPDX-License-Identifier: Apache-2.0
// Explains a failure: which known error gives these values, and whether they would pass in a wider accuracy class.
#pragma once

#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/compare/judge_outputs.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// How another value of a property is declared: "--accuracy-class=B".
using HowToDeclare = std::string (*)(const Property& property, const std::string& word);

// On input the expected outputs of a case, the given ones, what is claimed of them, and the verdict. On output `hint`
// (properties/explain/, known_fault_match.h) and `passes_as` of the verdict are set if an explanation was found. A
// verdict is not changed unless it is FAILED because of values.
void diagnose(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
              const Claims& claims, HowToDeclare how, Verdict& verdict);

// The same for an implementation, which is run on the case once more. CudnnRNNBackprop with random dropout is not
// explained, because the masks are the implementation's choice.
void diagnose(Runner& runner, const Case& c, int num_threads, Verdict& verdict);

}  // namespace backgauge::cli
