// SPDX-License-Identifier: Apache-2.0
#include "ci/python/words.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <vector>

#include "ci/run/plan/own_problem.h"
#include "ci/run/plan/refuse.h"
#include "impl/table_checks.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

// The set of the enumerators of `words`.
std::uint32_t set_of(std::string_view field, std::string_view (*word_of)(std::int32_t), const nb::handle& words) {
  std::uint32_t set = 0;
  for (const auto& word : nb::cast<std::vector<std::string>>(words)) {
    set |= BACKGAUGE_BIT(cli::enumerator_named(field, word_of, word));
  }
  return set;
}

std::int32_t one_of(std::string_view field, std::string_view (*word_of)(std::int32_t), const nb::handle& word) {
  return cli::enumerator_named(field, word_of, nb::cast<std::string>(word));
}

nb::str string(std::string_view text) { return nb::str(text.data(), text.size()); }

// A flag is a bool, another choice TensorFlow's word.
nb::object in_python(const AttributeSpec& attribute, std::int32_t value) {
  if (attribute.is_flag()) return nb::bool_(value != 0);
  return string(attribute.tensorflow_word(value));
}

// {"name": "rnn_mode", "key": "mode", "set": "rnn_modes", "words": {"rnn_tanh": "tanh", ...}} or
// {"name": "dropout", "key": "drop", "least": 0.0, "greatest": 1.0}
nb::dict described(const AttributeSpec& attribute) {
  nb::dict out;
  out["name"] = string(attribute.name);
  out["key"] = string(attribute.key);
  if (attribute.choice == nullptr) {
    out["least"] = attribute.least;
    out["greatest"] = attribute.greatest;
    return out;
  }
  nb::dict words;
  for (const std::int32_t value : attribute.values) words[in_python(attribute, value)] = string(attribute.word(value));
  out["set"] = string(attribute.set);
  out["words"] = words;
  return out;
}

}  // namespace

nb::dict attributes_in_words(backgauge_op op, const backgauge_attributes& a) {
  nb::dict out;
  for (const AttributeSpec& attribute : spec_of(op).attributes()) {
    const char* const name = attribute.name.data();
    if (attribute.real != nullptr) {
      out[name] = a.*attribute.real;
    } else if (attribute.integer != nullptr) {
      out[name] = a.*attribute.integer;
    } else {
      out[name] = in_python(attribute, a.*attribute.choice);
    }
  }
  return out;
}

backgauge_op_claims claims_in_words(const std::string& who, const OpSpec& spec, const nb::object& words) {
  const auto field = [&](const char* name) { return nb::object(words[name]); };
  backgauge_op_claims claims = complete_claims(spec.op);
  claims.dtypes = spec.dtypes;
  if (!field("dtypes").is_none()) claims.dtypes = set_of("dtypes", dtype_word, field("dtypes"));
  if ((claims.dtypes & ~spec.dtypes) != 0) {
    cli::refuse("{}: dtypes: {} has {}", who, spec.tensorflow, words_in(dtype_word, spec.dtypes));
  }
  claims.use_peephole = 0;
  for (const bool on : nb::cast<std::vector<bool>>(field("use_peephole"))) claims.use_peephole |= BACKGAUGE_BIT(on);
  claims.rnn_modes = set_of("rnn_modes", rnn_mode_attribute, field("rnn_modes"));
  claims.input_modes = set_of("input_modes", input_mode_attribute, field("input_modes"));
  claims.directions = set_of("directions", direction_attribute, field("directions"));
  claims.half_class = one_of("half_class", accuracy_class_word, field("half_class"));
  claims.numerical_contract = one_of("numerical_contract", numerical_contract_word, field("numerical_contract"));
  claims.determinism = one_of("determinism", determinism_word, field("determinism"));
  const bool all = nb::cast<bool>(field("recomputes_forward")), co = nb::cast<bool>(field("recomputes_co"));
  claims.recomputes_co = all ? 2 : co ? 1 : 0;
  claims.no_dropout = nb::cast<bool>(field("dropout")) ? 0 : 1;
  return claims;
}

nb::dict described(const std::string& op) {
  const OpSpec& spec = cli::gradient_named(op);
  nb::list dtypes;
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if ((spec.dtypes & BACKGAUGE_BIT(dtype)) != 0) dtypes.append(nb::str(dtype_word(dtype).data()));
  }
  nb::list attributes;
  for (const AttributeSpec& attribute : spec.attributes()) {
    if (!attribute.key.empty()) attributes.append(described(attribute));
  }
  nb::dict out;
  out["word"] = std::string(spec.word);
  out["dtypes"] = dtypes;
  out["has_steps"] = spec.traits.has_steps;
  out["has_seq_len_max"] = spec.traits.has_seq_len_max;
  out["has_layers"] = spec.traits.has_layers;
  out["attributes"] = attributes;
  return out;
}

}  // namespace backgauge::python
