// SPDX-License-Identifier: Apache-2.0
#include "ci/python/words.h"

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ci/run/plan/own_problem.h"
#include "ci/run/plan/refuse.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

using Kind = Property::Kind;

std::string shown(const nb::handle& value) { return nb::cast<std::string>(nb::repr(value)); }

WordOf python_word(const Property& property) {
  const bool differs = property.attribute != nullptr && property.attribute->tensorflow_word != nullptr;
  return differs ? property.attribute->tensorflow_word : property.word;
}

// Python's word for 0 or 1 is a bool.
bool has_bools(const Property& property) { return property.word == flag_word; }

std::string expected_of(const Property& property) {
  if (property.kind == Kind::kNumber) return "a whole number";
  if (property.kind == Kind::kError) return property.expected_text();
  if (property.kind == Kind::kSet) return has_bools(property) ? "a list of bools" : "a list of words";
  return has_bools(property) ? "True or False" : "a word";
}

// The enumerator of one word or bool. Throws nb::cast_error for other types.
std::int32_t enumerator_of(const std::string& field, const Property& property, const nb::handle& word) {
  if (has_bools(property)) return nb::cast<bool>(word, false) ? 1 : 0;
  return cli::enumerator_named(field, python_word(property), nb::cast<std::string>(word));
}

// A number, or a word that the command takes: "2^-17". Throws nb::cast_error for anything else.
double error_of(const Property& property, const nb::handle& value) {
  if (!nb::isinstance<nb::str>(value)) return nb::cast<double>(value);
  const std::optional<double> error = property.parse(nb::cast<std::string>(value));
  if (!error) throw nb::cast_error();
  return *error;
}

double number_of(const std::string& field, const Property& property, const nb::handle& value) {
  if (property.kind == Kind::kError) return error_of(property, value);
  if (property.kind == Kind::kNumber) return static_cast<double>(nb::cast<std::int64_t>(value, false));
  if (property.kind != Kind::kSet) return enumerator_of(field, property, value);
  if (nb::isinstance<nb::str>(value)) throw nb::cast_error();
  std::uint32_t set = 0;
  for (const nb::handle word : value) set |= BACKGAUGE_BIT(enumerator_of(field, property, word));
  return set;
}

// The value of a property, which is legal for the op.
double legal_number_of(const std::string& field, const OpSpec& op, const Property& property, const nb::handle& value) {
  double number = 0;
  try {
    number = number_of(field, property, value);
    if (property.allows(op, number)) return number;
  } catch (const nb::cast_error&) {
  } catch (const nb::python_error&) {  // of an iteration over what is not a list
  }
  if (property.kind == Kind::kSet && number != 0) {
    cli::refuse("{}: {} has {}", field, op.tensorflow, words_in(python_word(property), property.all(op)));
  }
  cli::refuse("{}: expected {}, got {}", field, expected_of(property), shown(value));
}

nb::object in_words(const Property& property, double value) {
  if (property.kind == Kind::kNumber) return nb::int_(static_cast<std::int64_t>(value));
  if (property.kind == Kind::kError) return nb::float_(value);
  if (property.kind == Kind::kFlag) return nb::bool_(value != 0);
  if (property.kind == Kind::kWord) return nb::str(property.words_of(value).front().c_str());
  nb::list out;
  for (std::int32_t enumerator = 0; enumerator < 32; ++enumerator) {
    if ((static_cast<std::uint32_t>(value) & BACKGAUGE_BIT(enumerator)) == 0) continue;
    if (has_bools(property)) {
      out.append(nb::bool_(enumerator != 0));
    } else {
      out.append(nb::str(std::string(python_word(property)(enumerator)).c_str()));
    }
  }
  return out;
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

Claims claims_in_words(std::string_view who, const OpSpec& spec, const nb::dict& words) {
  const OpSpec& op = spec_of(spec.traits.gradient.value_or(spec.op));
  Claims claims(op.op);
  for (const auto& [key, value] : words) {
    const std::string name = nb::cast<std::string>(key);
    const Property* property = find_property(name);
    if (property == nullptr || !property->is_of(op.traits)) {
      std::vector<std::string_view> known;
      for (const Property* each : properties_of(op)) known.push_back(each->name);
      cli::refuse("{}unknown argument {}; {} has {}", who, name, op.tensorflow, fmt::join(known, ", "));
    }
    const std::string field = fmt::format("{}{}", who, name);
    if (nb::isinstance<nb::dict>(value)) {
      for (const auto& [word, each] : nb::borrow<nb::dict>(value)) {
        const std::int32_t dtype = cli::enumerator_named(field, dtype_word, nb::cast<std::string>(word));
        if (name == "dtypes" || (op.dtypes & BACKGAUGE_BIT(dtype)) == 0) {
          cli::refuse("{}: {} has no value for {}", field, op.tensorflow, dtype_word(dtype));
        }
        property->set(claims, dtype, legal_number_of(field, op, *property, each));
      }
    } else if (!value.is_none()) {
      property->set_all(claims, legal_number_of(field, op, *property, value));
    }
  }
  return claims;
}

nb::dict all_in_words(const std::string& who, const std::string& op, const nb::dict& words) {
  const auto spec = std::ranges::find(op_specs(), op, &OpSpec::tensorflow);
  if (spec == op_specs().end()) {
    std::vector<std::string_view> names;
    for (const OpSpec& each : op_specs()) names.push_back(each.tensorflow);
    cli::refuse("{}op: expected one of {}, got {}", who, fmt::join(names, ", "), op);
  }
  const Claims claims = claims_in_words(who, *spec, words);
  nb::dict out;
  for (const Property* property : properties_of(claims.spec())) {
    nb::dict of_dtypes;
    for (const auto& [dtype, value] : stated(*property, claims)) {
      if (dtype == kEveryDtype) {
        out[property->name.data()] = in_words(*property, value);
      } else {
        of_dtypes[dtype_word(dtype).data()] = in_words(*property, value);
      }
    }
    if (!of_dtypes.empty()) out[property->name.data()] = of_dtypes;
  }
  return out;
}

nb::list properties_in_words() {
  nb::list out;
  for (const Property& property : properties()) {
    nb::dict row;
    row["name"] = property.name.data();
    row["effect"] = kEffectWords[static_cast<std::size_t>(property.effect)].data();
    row["documentation"] = property.documentation.data();
    out.append(row);
  }
  return out;
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
  nb::list sizes;
  for (const SizeSpec& size : spec.sizes()) sizes.append(nb::str(size.key.data()));
  nb::list inputs;
  for (const TensorSpec& input : spec.inputs) inputs.append(string(input.name));
  nb::dict out;
  out["word"] = std::string(spec.word);
  out["dtypes"] = dtypes;
  out["sizes"] = sizes;
  out["inputs"] = inputs;
  out["attributes"] = attributes;
  return out;
}

}  // namespace backgauge::python
