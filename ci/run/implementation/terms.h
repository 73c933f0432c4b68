// SPDX-License-Identifier: Apache-2.0
// The terms of a verdict: what an implementation claims about the ops, as JSON and as text. All of it is made from the
// rows of claims.inc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reference/contract/claims.h"

namespace backgauge::cli {

// The claims of an implementation, in the order of the ops.
using Terms = std::vector<Claims>;

// Throws std::invalid_argument if the registry would refuse the claims.
Terms terms_of(const backgauge_implementation& implementation);

// Those about the ops with these words.
Terms terms_about(const Terms& terms, const std::vector<std::string>& ops);

// {"op": "block_lstm_grad_v2", "dtypes": ["f16", "f32"], "accuracy_class": "B", ...}: every property of the op that
// matters for the claimed dtypes, but no limit that is not claimed. {"f16": "B", "bf16": "A'"} if dtypes differ. Then
// "not_claimed": ["f64", "rnn_mode gru", "dropout", "H > 512 in f16"], and "text", as by terms_text.
nlohmann::ordered_json to_json(const Claims& claims);
nlohmann::ordered_json to_json(const Terms& terms);

// Reads what to_json writes. Throws std::invalid_argument for anything else.
Terms parse_terms(const nlohmann::ordered_json& json);

// "accuracy class A in f16, bf16; numerical contract fp32_strict; determinism bitwise; not claimed: f64, dropout": what
// bears on the allowed errors and on the checks, and which calls are not made.
std::string terms_text(const Claims& claims);

// "terms of block_lstm_grad_v2: …" as by terms_text, a line for each op.
std::string terms_lines(const Terms& terms);

// Every property, without the op: "dtypes=f16,bf16 accuracy_class=f16:B,bf16:A' ...".
std::string claims_text(const Claims& claims);

// The properties that change the allowed errors of calls of these ops and dtypes and are not as usual: "accuracy class
// B, numerical contract fp32_tf32"; "" if all errors are held to the usual, tightest bound.
using Scope = std::vector<std::pair<std::string, std::string>>;  // words of op and dtype
std::string allowances(const Terms& terms, const Scope& scope);

// The first difference: "accuracy_class of block_lstm_grad_v2 B, here A"; "" if there is none.
std::string difference(const Terms& there, const Terms& here);

// [{"name": "accuracy_class", "kind": "word", "values": ["A", "A'", "B"], "documentation": ..., ...}]: all that can be
// claimed.
nlohmann::ordered_json properties_json();

}  // namespace backgauge::cli
