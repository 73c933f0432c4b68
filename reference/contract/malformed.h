// SPDX-License-Identifier: Apache-2.0
// Calls that the contract refuses, made from the table of an op: each is a legal call with one field changed. An
// implementation must refuse all of them with BACKGAUGE_INVALID_ARGUMENT and leave the call's memory untouched.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference/contract/owned_call.h"

namespace backgauge {

enum class Damage {
  kShape,        // a dimension or the rank of one tensor
  kDescription,  // another field of one tensor
  kMemory,       // an address: NULL, misaligned, overlapping
  kList,         // which tensors are listed, in which order
  kValue,        // seq_len_max
  kCall,         // fields of the call and its attributes
};

struct MalformedCall {
  std::string description;  // "block_lstm_grad_v2 peephole=1: w: dimension 0 = 0"; unique
  Damage damage;
  CallSetup setup;  // of the original legal call
  std::function<void(OwnedCall&)> apply;

  std::unique_ptr<OwnedCall> make(const PrepareFunction& prepare = nullptr,
                                  const InputMemory& input_memory = nullptr) const;
};

// Small legal calls of an op, without dimensions of 0 and with sizes that differ where the op allows it: with and
// without peephole, every rnn_mode and direction, one layer and several.
std::vector<CallSetup> base_setups(backgauge_op op, backgauge_dtype dtype);

// At least 360 calls for every op and every dtype that it has.
std::vector<MalformedCall> malformed_calls(backgauge_op op, backgauge_dtype dtype);

}  // namespace backgauge
