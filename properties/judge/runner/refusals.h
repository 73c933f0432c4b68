// SPDX-License-Identifier: Apache-2.0
// Calls that the contract refuses (reference/contract/malformed.h), made to an implementation: each must be refused
// with INVALID_ARGUMENT and a message, before anything is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"
#include "reference/contract/op_spec.h"

namespace backgauge {

// Identifies a malformed call. They are numbered from 0 for each op (forward ops too) and dtype.
struct Malformed {
  backgauge_op op;
  backgauge_dtype dtype;
  std::uint64_t number;
};
std::uint64_t malformed_count(backgauge_op op, backgauge_dtype dtype);
std::string malformed_description(const Malformed& which);  // "block_lstm_grad_v2 peephole=1: w: dimension 0 = 0"

// What was done to the legal call, whatever its tensor and its numbers: "dimension # = #", "left out".
std::string malformed_kind(const Malformed& which);

// The malformed calls of case lines: those of CudnnRNNBackprop are followed by those of its forward.
std::uint64_t malformed_case_count(backgauge_op gradient_op, backgauge_dtype dtype);
Malformed malformed_of_case(backgauge_op gradient_op, backgauge_dtype dtype, std::uint64_t number);

// PASSED if the call is refused as the contract demands. Throws nothing: an error in the judge itself is
// BROKEN("harness: ...").
Verdict judge_refusal(Runner& runner, const Malformed& which);

// A call that was not refused as the contract demands.
struct WrongAnswer {
  std::string call;   // its description
  std::string fault;  // "run returned OK", "wrote before it refused"
};

struct Refusals {
  std::size_t calls = 0;
  std::vector<WrongAnswer> wrong;
};

// Makes every `step`-th malformed call of an op in a dtype that the implementation claims. They are made in this
// process, which crashes if an implementation accepts such a call and reads or writes out of bounds.
Refusals refusals(const backgauge_implementation& implementation, backgauge_op op, backgauge_dtype dtype,
                  std::size_t step);

}  // namespace backgauge
