// SPDX-License-Identifier: Apache-2.0
// Explains a failure: which known error gives these values, and whether they would pass in a wider accuracy class.
#pragma once

#include <string>
#include <vector>

#include "properties/case/case.h"
#include "properties/judge/compare/judge_values.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// On input the expected outputs of a case, what was given instead, how it was declared, and its verdict. On output its
// `hint` (properties/explain/hint.h, known_fault_match.h) and `passes_as` are set as far as there is something to say;
// `how` tells a reader what to declare for another class: "--half-class={}". Nothing happens to a verdict that is not
// FAILED by values.
void diagnose(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
              const Declared& declared, const std::string& how, Verdict& verdict);

// The same for what an implementation answers to a case, once more: of CudnnRNNBackprop with random dropout nothing is
// said, since masks are the implementation's own.
void diagnose(Runner& runner, const Case& c, int num_threads, Verdict& verdict);

}  // namespace backgauge::cli
