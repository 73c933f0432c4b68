// SPDX-License-Identifier: Apache-2.0
// Runs an implementation on a problem and returns its outputs, alone or with bounds on their errors. For
// CudnnRNNBackprop the outputs of its own forward come first, without reserve_space, then those of the gradient.
#pragma once

#include <stdexcept>

#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "properties/judge/call/run.h"
#include "reference/oracle.h"

namespace backgauge {

// The problem of a case. Throws std::runtime_error if the case has none.
Filled filled(const Case& c);

struct Answer {
  Problem problem;  // with the dropout masks that the implementation drew
  std::vector<Output> outputs;
};

// Thrown for a problem that a law has constructed and the implementation does not claim.
struct Unclaimed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs with num_threads and placement as in options. run may change reserve_space if that is claimed. Throws Unclaimed,
// or std::runtime_error if a rule of the contract was broken or a call did not return OK.
Answer answer(const backgauge_implementation& implementation, const Problem& problem, const RunOptions& options = {});

// What the implementation declares for the dtype of the answer.
Declared declared_by(const backgauge_implementation& implementation, const Answer& answer);

// `value` is the output, `allowed` the bound on its distance from the exact result: inf where the result may lie
// outside the range of the dtype. Throws std::runtime_error for a value that must be finite and is not.
std::vector<Wanted> with_bounds(const backgauge_implementation& implementation, const Answer& answer,
                                const DataFacts& facts);

// Both at once.
std::vector<Wanted> bounded_answer(const backgauge_implementation& implementation, const Problem& problem,
                                   const DataFacts& facts);

// The same with bounds of 0, for laws that hold bit by bit.
std::vector<Wanted> exactly(const Answer& answer);

// By its name. Throws std::out_of_range.
const Wanted& named(const std::vector<Wanted>& outputs, std::string_view name);

}  // namespace backgauge
