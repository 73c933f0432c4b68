// SPDX-License-Identifier: Apache-2.0
// The terms of a verdict: what an implementation claims about an op, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reference/contract/claims.h"

namespace backgauge::cli {

// {"op": "block_lstm_grad_v2", "dtypes": ["f16", "f32"], "accuracy_class": "B", ...}: every property of the op that
// matters for the claimed dtypes, but no limit that is not claimed. {"f16": "B", "bf16": "A'"} if dtypes differ.
nlohmann::ordered_json terms_json(const Claims& claims);

// The same on one line, without the op: "dtypes=f16,bf16 accuracy_class=f16:B,bf16:A' ...".
std::string terms_text(const Claims& claims);

// [{"name": "accuracy_class", "kind": "word", "values": ["A", "A'", "B"], "documentation": ..., ...}]: all that can be
// claimed.
nlohmann::ordered_json properties_json();

}  // namespace backgauge::cli
