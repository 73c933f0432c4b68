// SPDX-License-Identifier: Apache-2.0
// The one place that accepts or refuses a call: the union of TensorFlow's checks, and everything TensorFlow leaves
// undefined (semantics.md sections 6 and 8). B, S and I may be 0; T may be 0 for BlockLSTMGradV2 only.
#pragma once

#include <string>

#include "reference/contract/op_spec.h"

namespace backgauge {

// Of a reserve_space that may be as long as it is: so a call is validated before its length is computed from it.
inline constexpr std::int64_t kAnyLength = -1;

// On input any call whose arrays are as long as num_inputs and num_outputs say; `reserve_space_length` as the
// implementation's prepare answers, or kAnyLength (the LSTM ops ignore it).
// On output the extents, and "" or the reason for refusal: tensor, expected, got.
struct Validation {
  Extents extents;
  std::string refusal;
  bool ok() const { return refusal.empty(); }
};
Validation validate(const backgauge_call& call, std::int64_t reserve_space_length);

// The same without looking at data pointers, workspace and reserve_space's shape: what prepare may look at.
Validation validate_shapes(const backgauge_call& call);

// C form, as handed to implementations.
const backgauge_host& host();

}  // namespace backgauge
