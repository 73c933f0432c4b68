// SPDX-License-Identifier: Apache-2.0
// Describes a place in the flat params buffer.
#pragma once

#include <string>

#include "reference/contract/rnn_params.h"

namespace backgauge {

// On input a legal call's attributes and an index below its params_length.
// On output "layer 1 reverse, R[2,0] of gate z": row (unit), column (input).
std::string params_block(const backgauge_attributes& attributes, const RnnParams& layout, std::int64_t index);

}  // namespace backgauge
