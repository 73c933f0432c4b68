// SPDX-License-Identifier: Apache-2.0
// Attributes and claims as Python has them: dicts of TensorFlow's words, and of the words of `backgauge list`.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "reference/contract/claims.h"

namespace backgauge::python {

// {"use_peephole": True}, or {"rnn_mode": "lstm", "input_mode": "linear_input", ...}.
nanobind::dict attributes_in_words(backgauge_op op, const backgauge_attributes& attributes);

// `words`: claims about an op as the arguments of backgauge.implements are: {"dtypes": ["f32"], "use_peephole":
// [False], "accuracy_class": {"f16": "B", "bf16": "A'"}, ...}. What they leave out, or is None, is as usual; those of a
// forward are about its gradient. Throws std::invalid_argument that begins with `who` and says what was expected.
Claims claims_in_words(std::string_view who, const OpSpec& spec, const nanobind::dict& words);

// The same with a value for every property of the op.
nanobind::dict all_in_words(const std::string& who, const std::string& op, const nanobind::dict& words);

// [{"name": "accuracy_class", "effect": "rounding", "documentation": ...}, ...]: all properties.
nanobind::list properties_in_words();

// What a case line of the op may say: {"word": "block_lstm_grad_v2", "dtypes": ["f16", "f32"],
// "sizes": ["t", "b", "i", "h", "seq"], "attributes": [...]}. Sizes are keys in the line. An attribute has "name",
// "key" in the line, and either "set", the claim about its values, with "words", the line's word for each of Python's
// values, the simplest first; or "least" and "greatest". Throws std::invalid_argument.
nanobind::dict described(const std::string& op);

}  // namespace backgauge::python
