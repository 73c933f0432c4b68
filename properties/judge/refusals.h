// SPDX-License-Identifier: Apache-2.0
// Calls that the contract refuses (reference/contract/malformed.h), made to an implementation: each must be refused
// with INVALID_ARGUMENT and a message, before anything is written.
#pragma once

#include <string>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge {

// One call that was not refused as it must be.
struct WrongAnswer {
  std::string call;   // "block_lstm_grad_v2 peephole=1: w: dimension 0 = 0"
  std::string fault;  // "run answered OK", "wrote before it refused"
};

struct Refusals {
  std::size_t calls = 0;
  std::vector<WrongAnswer> wrong;
};

// Every `step`-th malformed call of an op, also of BACKGAUGE_CUDNN_RNN, in a dtype that the implementation claims. In
// this process: an implementation that takes such a call for legal may crash.
Refusals refusals(const backgauge_implementation& implementation, backgauge_op op, backgauge_dtype dtype,
                  std::size_t step);

}  // namespace backgauge
