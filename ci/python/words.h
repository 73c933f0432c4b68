// SPDX-License-Identifier: Apache-2.0
// Attributes and claims as Python has them: dicts of TensorFlow's words, and of the words of `backgauge list`.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "reference/contract/op_spec.h"

namespace backgauge::python {

// {"use_peephole": True}, or {"rnn_mode": "lstm", "input_mode": "linear_input", ...}.
nanobind::dict attributes_in_words(backgauge_op op, const backgauge_attributes& attributes);

// `words`: the arguments of backgauge.implements, {"dtypes": ["f32"], "use_peephole": [False], "half_class": "A", ...};
// dtypes None: all of the op. `who`: a message about dtypes begins with it. Throws std::invalid_argument with what was
// expected, and nanobind::cast_error for values of other types.
backgauge_op_claims claims_in_words(const std::string& who, const OpSpec& spec, const nanobind::object& words);

// What a case line of the op may say: {"word": "block_lstm_grad_v2", "dtypes": ["f16", "f32"], "has_steps": True,
// "has_seq_len_max": True, "has_layers": False, "attributes": [...]}. An attribute has "name", "key" in the line, and
// either "set", the claim about its values, with "words", the line's word for each of Python's values, the simplest
// first; or "least" and "greatest". Throws std::invalid_argument.
nanobind::dict described(const std::string& op);

}  // namespace backgauge::python
