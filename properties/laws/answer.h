// SPDX-License-Identifier: Apache-2.0
// What an implementation makes of a problem: its outputs, alone or with how far each may be from the truth. For
// CudnnRNNBackprop the outputs of its own forward stand before those of the gradient, reserve_space left out.
#pragma once

#include <stdexcept>

#include "properties/case/inputs.h"
#include "properties/judge/call/run.h"
#include "reference/oracle.h"

namespace backgauge {

// A case's problem. Throws std::runtime_error where there is none.
Filled filled(const Case& c);

struct Answer {
  Problem problem;  // with the dropout masks that the implementation drew
  std::vector<Output> outputs;
  std::vector<RawTensor> made;  // what the forward made, reserve_space with it
};

// A problem that a law has made and the implementation does not claim.
struct Unclaimed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Unclaimed; std::runtime_error if a rule was broken, or the implementation did not answer OK. With num_threads
// and placement as in options; a reserve_space that it claims to change may change.
Answer answer(const backgauge_implementation& implementation, const Problem& problem, const RunOptions& options = {});

// What it answered, in `value`; in `allowed`, how far that may be from the exact result. inf where the result may lie
// outside of the dtype. Throws std::runtime_error for a value that must be finite and is not.
std::vector<Wanted> with_bounds(const backgauge_implementation& implementation, const Answer& answer,
                                const DataFacts& facts);

// Both at once.
std::vector<Wanted> bounded_answer(const backgauge_implementation& implementation, const Problem& problem,
                                   const DataFacts& facts);

// The same with an allowed of 0: for laws that hold bit by bit.
std::vector<Wanted> exactly(const Answer& answer);

// By its name. Throws std::out_of_range.
const Wanted& named(const std::vector<Wanted>& outputs, std::string_view name);

}  // namespace backgauge
