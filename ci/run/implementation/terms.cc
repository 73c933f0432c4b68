// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "properties/judge/compare/claims.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kKindWords[] = {"word", "set", "flag", "number", "error"};
constexpr const char *kOp = "op", *kNotClaimed = "not_claimed", *kText = "text";

Json value_json(const Property& property, double value) {
  switch (property.kind) {
    case Property::Kind::kFlag: return value != 0;
    case Property::Kind::kNumber: return static_cast<std::int64_t>(value);
    case Property::Kind::kError: return value;
    case Property::Kind::kWord: return property.words_of(value).front();
    case Property::Kind::kSet: return property.words_of(value);
  }
  return {};
}

Json values_json(const Property& property, const Claims& claims) {
  Json out;
  for (const auto& [dtype, value] : stated(property, claims)) {
    if (dtype == kEveryDtype) return value_json(property, value);
    out[std::string(dtype_word(dtype))] = value_json(property, value);
  }
  return out;
}

// All properties but limits and errors, and those of these that are claimed.
bool is_stated(const Property& property, const Claims& claims) {
  const bool is_number = property.kind == Property::Kind::kNumber || property.kind == Property::Kind::kError;
  return !is_number || is_worth_stating(property, claims);
}

double number_of(const Property& property, const Json& json) {
  const auto enumerator = [&](const Json& word) {
    const std::optional<double> value = property.parse(word.get<std::string>());
    if (!value) throw std::invalid_argument(fmt::format("{}: {} is not one of its words", property.name, word.dump()));
    return static_cast<std::int32_t>(*value);
  };
  if (property.kind == Property::Kind::kFlag) return json.get<bool>() ? 1 : 0;
  if (property.kind == Property::Kind::kNumber || property.kind == Property::Kind::kError) return json.get<double>();
  if (property.kind == Property::Kind::kWord) return enumerator(json);
  std::uint32_t values = 0;
  for (const Json& word : json) values |= BACKGAUGE_BIT(enumerator(word));
  return values;
}

double parse_value(const Property& property, const OpSpec& op, const Json& json) {
  const double value = number_of(property, json);
  if (property.allows(op, value)) return value;
  throw std::invalid_argument(
      fmt::format("{}: expected {}, got {}", property.name, property.expected(op), json.dump()));
}

const OpSpec& parse_op(const std::string& word) {
  const OpSpec* op = find_op(word);
  if (op == nullptr || op->traits.gradient) throw std::invalid_argument(fmt::format("\"{}\" is not an op", word));
  return *op;
}

Claims parse_claims(const Json& json) {
  Claims out(parse_op(json.at(kOp).get<std::string>()).op);
  for (const auto& [name, value] : json.items()) {
    if (name == kOp || name == kNotClaimed || name == kText) continue;
    const Property* property = find_property(name);
    if (property == nullptr) throw std::invalid_argument(fmt::format("\"{}\" is not a property", name));
    if (!value.is_object()) property->set_all(out, parse_value(*property, out.spec(), value));
    for (const backgauge_dtype dtype : kFloatDtypes) {
      const auto found = value.is_object() ? value.find(dtype_word(dtype)) : value.end();
      if (found != value.end()) property->set(out, dtype, parse_value(*property, out.spec(), *found));
    }
  }
  for (const Property* property : properties_of(out.spec())) {
    const bool is_missing = property->is_required && !stated(*property, out).empty() && !json.contains(property->name);
    if (is_missing) throw std::invalid_argument(fmt::format("{}: missing", property->name));
  }
  return out;
}

std::string in_words(const Property& property) {
  std::string out(property.name);
  std::ranges::replace(out, '_', ' ');
  return out;
}

// "accuracy class A", "recomputes co".
std::string phrase(const Property& property, double value) {
  if (property.kind == Property::Kind::kFlag) return in_words(property);
  return fmt::format("{} {}", in_words(property), fmt::join(property.words_of(value), "+"));
}

// What one value of a property leaves out: "f64", "rnn_mode gru", "dropout", "H > 512".
std::vector<std::string> left_out(const Property& property, const OpSpec& op, double value) {
  if (value == property.usual_for(op)) return {};
  if (property.kind == Property::Kind::kFlag) return {in_words(property)};
  if (property.kind == Property::Kind::kNumber) {
    constexpr std::string_view kForms[] = {"<", ">", "not a multiple of"};
    return {fmt::format("{} {} {:.0f}", property.size_name, kForms[static_cast<std::size_t>(property.limit)], value)};
  }
  std::vector<std::string> out = property.words_in(property.all(op) & ~static_cast<std::uint32_t>(value));
  for (std::string& word : out) {
    if (property.attribute != nullptr) word = fmt::format("{} {}", property.attribute->name, word);
  }
  return out;
}

// What is said of each dtype, once, with the dtypes that it holds for if it does not hold for all: "A in f16, bf16".
template <class Say>
std::vector<std::string> said(const Property& property, const Claims& claims, Say say) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> phrases;
  std::size_t claimed = 0;
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if (!claims.takes(dtype)) continue;
    ++claimed;
    if (!property.matters_for(dtype)) continue;
    for (const std::string& words : say(property.get(claims, dtype))) {
      auto found = std::ranges::find(phrases, words, &decltype(phrases)::value_type::first);
      if (found == phrases.end()) found = phrases.insert(found, {words, {}});
      found->second.push_back(dtype_word(dtype));
    }
  }
  std::vector<std::string> out;
  for (const auto& [words, dtypes] : phrases) {
    out.push_back(dtypes.size() == claimed ? words : fmt::format("{} in {}", words, fmt::join(dtypes, ", ")));
  }
  return out;
}

std::vector<std::string> not_claimed(const Claims& claims) {
  std::vector<std::string> out;
  for (const Property* property : properties_of(claims.spec())) {
    if (property->effect != Effect::kScope) continue;
    for (std::string& each :
         said(*property, claims, [&](double value) { return left_out(*property, claims.spec(), value); })) {
      out.push_back(std::move(each));
    }
  }
  return out;
}

const Claims* find_claims(const Terms& terms, backgauge_op op) {
  const auto found = std::ranges::find(terms, std::int32_t{op}, &Claims::op);
  return found == terms.end() ? nullptr : &*found;
}

}  // namespace

Terms terms_of(const backgauge_implementation& implementation) {
  Terms out;
  for (const backgauge_op op : gradient_ops()) {
    if (const std::optional<Claims> claims = claims_of(implementation, op)) out.push_back(*claims);
  }
  return out;
}

Terms terms_about(const Terms& terms, const std::vector<std::string>& ops) {
  Terms out;
  std::ranges::copy_if(terms, std::back_inserter(out),
                       [&](const Claims& each) { return std::ranges::find(ops, each.spec().word) != ops.end(); });
  return out;
}

Json to_json(const Claims& claims) {
  Json out{{kOp, claims.spec().word}};
  for (const Property* property : properties_of(claims.spec())) {
    if (!is_stated(*property, claims)) continue;
    if (Json values = values_json(*property, claims); !values.is_null()) out[property->name] = std::move(values);
  }
  out[kNotClaimed] = not_claimed(claims);
  out[kText] = terms_text(claims);
  return out;
}

Json to_json(const Terms& terms) {
  Json out = Json::array();
  for (const Claims& each : terms) out.push_back(to_json(each));
  return out;
}

Terms parse_terms(const Json& json) try {
  Terms out;
  for (const Json& each : json) {
    // An optional property that an older version did not know is missing in its files, and as usual.
    const Json again = to_json(out.emplace_back(parse_claims(each)));
    for (const auto& [name, value] : each.items()) {
      if (again.contains(name) && again[name] == value) continue;
      throw std::invalid_argument(fmt::format("{} contradicts the others", name));
    }
  }
  return out;
} catch (const std::exception& error) {
  throw std::invalid_argument(fmt::format("\"terms\": {}", error.what()));
}

std::string terms_text(const Claims& claims) {
  std::vector<std::string> out;
  for (const Property* property : properties_of(claims.spec())) {
    if (property->effect == Effect::kScope) continue;
    const std::vector<std::string> phrases = said(*property, claims, [&](double value) {
      return property->is_required || value != property->usual_for(claims.spec())
                 ? std::vector{phrase(*property, value)}
                 : std::vector<std::string>{};
    });
    if (!phrases.empty()) out.push_back(fmt::format("{}", fmt::join(phrases, ", ")));
  }
  if (const std::vector<std::string> rest = not_claimed(claims); !rest.empty()) {
    out.push_back(fmt::format("not claimed: {}", fmt::join(rest, ", ")));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string terms_lines(const Terms& terms) {
  std::string out;
  for (const Claims& each : terms) out += fmt::format("terms of {}: {}\n", each.spec().word, terms_text(each));
  return out;
}

std::string claims_text(const Claims& claims) {
  std::string out;
  for (const Property* property : properties_of(claims.spec())) {
    const std::string values = stated_text(*property, claims);
    if (!is_stated(*property, claims) || values.empty()) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", property->name, values);
  }
  return out;
}

std::string allowances(const Terms& terms, const Scope& scope) {
  std::vector<std::string> out;
  for (const Property& property : properties()) {
    if (property.effect != Effect::kRounding) continue;
    for (const auto& [op, word] : scope) {
      const Claims* claims = find_claims(terms, parse_op(op).op);
      const auto dtype = std::ranges::find(kFloatDtypes, word, dtype_word);
      if (claims == nullptr || !property.is_of(claims->spec().traits) || !property.matters_for(*dtype)) continue;
      const double value = property.get(*claims, *dtype);
      const std::string words = phrase(property, value);
      const bool is_new = std::ranges::find(out, words) == out.end();
      if (value != property.usual_for(claims->spec()) && is_new) out.push_back(words);
    }
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string difference(const Terms& there, const Terms& here) {
  const auto text_of = [](const Property& property, const Claims* claims) -> std::string {
    if (claims == nullptr || !is_stated(property, *claims)) return "not claimed";
    return stated_text(property, *claims);
  };
  for (const backgauge_op op : gradient_ops()) {
    const Claims *first = find_claims(there, op), *second = find_claims(here, op);
    if (first == nullptr && second == nullptr) continue;
    for (const Property* property : properties_of(spec_of(op))) {
      const std::string before = text_of(*property, first), now = text_of(*property, second);
      if (before != now) return fmt::format("{} of {} {}, here {}", property->name, spec_of(op).word, before, now);
    }
  }
  return "";
}

Json properties_json() {
  Json out = Json::array();
  for (const Property& property : properties()) {
    Json ops = Json::array();
    std::uint32_t values = 0;
    for (const backgauge_op op : gradient_ops()) {
      if (!property.is_of(traits_of(op))) continue;
      ops.push_back(spec_of(op).word);
      if (property.word != nullptr) values |= property.all(spec_of(op));
    }
    Json row{{"name", property.name}, {"kind", kKindWords[static_cast<std::size_t>(property.kind)]}};
    if (property.word != nullptr) row["values"] = property.words_in(values);
    if (!property.enumerators.empty()) row["enumerators"] = property.enumerators;
    row["required"] = property.is_required;
    row["ops"] = std::move(ops);
    row["effect"] = kEffectWords[static_cast<std::size_t>(property.effect)];
    row["documentation"] = property.documentation;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace backgauge::cli
