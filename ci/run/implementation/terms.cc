// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/terms.h"

#include <fmt/format.h>

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kKindWords[] = {"word", "set", "flag", "number"};

Json value_json(const Property& property, double value) {
  switch (property.kind) {
    case Property::Kind::kFlag: return value != 0;
    case Property::Kind::kNumber: return static_cast<std::int64_t>(value);
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

}  // namespace

Json terms_json(const Claims& claims) {
  const OpSpec& op = claims.spec();
  Json out{{"op", op.word}};
  for (const Property* property : properties_of(op)) {
    if (property->kind == Property::Kind::kNumber && !is_worth_stating(*property, claims)) continue;
    if (Json values = values_json(*property, claims); !values.is_null()) out[property->name] = std::move(values);
  }
  return out;
}

std::string terms_text(const Claims& claims) {
  std::string out;
  for (const Property* property : properties_of(claims.spec())) {
    const std::string values = stated_text(*property, claims);
    const bool is_shown = property->kind != Property::Kind::kNumber || is_worth_stating(*property, claims);
    if (is_shown && !values.empty()) out += fmt::format("{}{}={}", out.empty() ? "" : " ", property->name, values);
  }
  return out;
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
