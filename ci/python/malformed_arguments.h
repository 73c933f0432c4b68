// SPDX-License-Identifier: Apache-2.0
// A malformed call, as arguments of a function in Python.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge::python {

struct MalformedArguments {
  // The inputs of the op, in its order, each in memory of its own: zeros in the dtype and shape that the call says.
  // Those of int64 in the op's table (seq_len_max) have the value of the call.
  std::vector<backgauge_tensor> inputs;
  std::vector<std::vector<std::uint64_t>> memory;  // aligned for every dtype
};

// On input a call of an op without a training forward that validate() has refused.
// On output nullopt if nothing of what is wrong with it arrives in the arguments of a function (outputs, addresses, the
// order of the list, reserved fields), or if no arguments can say it: an input that is missing or unknown, a shape that
// is negative or needs more than a mebibyte, a dtype that NumPy does not have, an attribute that is not one of its
// words.
std::optional<MalformedArguments> malformed_arguments(const backgauge_call& call);

}  // namespace backgauge::python
