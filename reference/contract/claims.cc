// SPDX-License-Identifier: Apache-2.0
#include "reference/contract/claims.h"

#include <charconv>
#include <cmath>

namespace backgauge {
namespace {

constexpr double kNoLimit = 0x1p53;  // all whole numbers up to it are exact
constexpr std::int32_t kEnumerators = 32;

#define BACKGAUGE_IS_OF(expression) [](const OpTraits& op) { return static_cast<void>(op), expression; }
#define BACKGAUGE_ROW(name_, kind_, op, documentation_, ...)                                         \
  {.name = #name_,                                                                                   \
   .kind = Property::Kind::kind_,                                                                    \
   .effect = kEffect,                                                                                \
   .get = [](const Claims& claims, std::int32_t dtype) { return claims.name_.number(dtype); },       \
   .set = [](Claims& claims, std::int32_t dtype, double to) { claims.name_.set_number(dtype, to); }, \
   .is_of = BACKGAUGE_IS_OF(op),                                                                     \
   .documentation = documentation_,                                                                  \
   __VA_ARGS__},
#define BACKGAUGE_DTYPES(name, documentation) \
  BACKGAUGE_ROW(name, kSet, true, documentation, .is_required = true, .word = dtype_word)
#define BACKGAUGE_SET(fact, field, key, name, ...)                                                  \
  BACKGAUGE_ROW(name, kSet, op.fact, "the values of " #field " that it takes", .is_required = true, \
                .word = attribute_of_set(#name).word, .attribute = &attribute_of_set(#name))
#define BACKGAUGE_NO_ROW(...)
#define BACKGAUGE_WORD(name, type, word_, usual_, presence, dtypes, op, documentation)  \
  BACKGAUGE_ROW(name, kWord, op, documentation, .is_required = (presence) == kRequired, \
                .is_narrow = (dtypes) == kNarrowDtypes, .usual = usual_, .word = word_, .enumerators = #type)
#define BACKGAUGE_FLAG(name, usual_, op, documentation) \
  BACKGAUGE_ROW(name, kFlag, op, documentation, .usual = usual_, .word = flag_word)
#define BACKGAUGE_ERROR(name, least_, greatest_, op, documentation) \
  BACKGAUGE_ROW(name, kError, op, documentation, .least_power = least_, .greatest_power = greatest_)
#define BACKGAUGE_LIMIT(size_, member, op, what)                                                                    \
  BACKGAUGE_ROW(least_##size_, kNumber, op, "the smallest " what " that it takes", .size_name = #size_,             \
                .size = &Extents::member, .limit = Limit::kLeast)                                                   \
  BACKGAUGE_ROW(greatest_##size_, kNumber, op, "the largest " what " that it takes", .usual = kNoLimit,             \
                .size_name = #size_, .size = &Extents::member, .limit = Limit::kGreatest)                           \
  BACKGAUGE_ROW(multiple_of_##size_, kNumber, op, "a number that divides every " what " that it takes", .usual = 1, \
                .least = 1, .size_name = #size_, .size = &Extents::member, .limit = Limit::kMultiple)

// Words of the columns of claims.inc.
enum class Presence { kOptional, kRequired };
enum class Dtypes { kAllDtypes, kNarrowDtypes };

const AttributeSpec& attribute_of_set(std::string_view name) {
  return *std::ranges::find(attribute_specs(), name, &AttributeSpec::set);
}

std::vector<Property> make_properties() {
  using enum Presence;
  using enum Dtypes;
  std::vector<Property> out;
  const auto add = [&](std::vector<Property> rows) { out.insert(out.end(), rows.begin(), rows.end()); };
  {
    constexpr Effect kEffect = Effect::kScope;
    add({BACKGAUGE_SCOPE_CLAIMS(BACKGAUGE_DTYPES, BACKGAUGE_FLAG) BACKGAUGE_ATTRIBUTES(
        BACKGAUGE_SET, BACKGAUGE_SET, BACKGAUGE_NO_ROW, BACKGAUGE_NO_ROW) BACKGAUGE_LIMIT_CLAIMS(BACKGAUGE_LIMIT)});
  }
  {
    constexpr Effect kEffect = Effect::kRounding;
    add({BACKGAUGE_ROUNDING_CLAIMS(BACKGAUGE_WORD, BACKGAUGE_FLAG, BACKGAUGE_ERROR)});
  }
  {
    constexpr Effect kEffect = Effect::kCheck;
    add({BACKGAUGE_CHECK_CLAIMS(BACKGAUGE_WORD, BACKGAUGE_FLAG)});
  }
  return out;
}

// False for a number that is not an enumerator: a call that the contract refuses may hold any.
bool has(std::uint32_t set, std::int32_t enumerator) {
  return enumerator >= 0 && enumerator < kEnumerators && (set & BACKGAUGE_BIT(enumerator)) != 0;
}

// "A (1), A' (2), S (3), B (4)"
std::string enumerators_in(WordOf word, std::uint32_t set) {
  std::string out;
  for (std::int32_t enumerator = 0; enumerator < kEnumerators; ++enumerator) {
    if (!has(set, enumerator)) continue;
    out.append(out.empty() ? "" : ", ").append(word(enumerator));
    const std::string number = std::to_string(enumerator);
    if (word(enumerator) != number) out.append(" (").append(number).append(")");
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) out.append(out.empty() ? "" : separator).append(word);
  return out;
}

// "2^-17" for a power of two.
std::string error_text(double value) {
  int exponent = 0;
  const bool is_power = value > 0 && std::frexp(value, &exponent) == 0.5;
  return is_power ? "2^" + std::to_string(exponent - 1) : number_text(value);
}

std::optional<double> parse_error(std::string_view text) {
  constexpr std::string_view kPower = "2^";
  const bool is_power = text.starts_with(kPower);
  const std::string_view digits = text.substr(is_power ? kPower.size() : 0);
  const char* const end = digits.data() + digits.size();
  int exponent = 0;
  double value = 0;
  const auto read =
      is_power ? std::from_chars(digits.data(), end, exponent) : std::from_chars(digits.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (is_power) value = std::ldexp(1.0, exponent);
  return value >= 0 && value <= kNoLimit ? std::optional(value) : std::nullopt;
}

}  // namespace

const std::vector<Property>& properties() {
  static const std::vector<Property> all = make_properties();
  return all;
}

const Property* find_property(std::string_view name) {
  const auto found = std::ranges::find(properties(), name, &Property::name);
  return found == properties().end() ? nullptr : &*found;
}

std::vector<const Property*> properties_of(const OpSpec& op) {
  std::vector<const Property*> out;
  for (const Property& property : properties()) {
    if (property.is_of(op.traits)) out.push_back(&property);
  }
  return out;
}

Claims::Claims(backgauge_op gradient) : op(gradient) {
  const OpSpec& spec = spec_of(gradient);
  for (const Property& property : properties()) property.set_all(*this, property.usual_for(spec));
}

bool Claims::takes(std::int32_t dtype) const { return has(dtypes[kEveryDtype], dtype); }

Declared declared(const Claims& claims, std::int32_t dtype) {
#define BACKGAUGE_DECLARED(name, ...) .name = claims.name[dtype],
  return {BACKGAUGE_ROUNDING_CLAIMS(BACKGAUGE_DECLARED, BACKGAUGE_DECLARED, BACKGAUGE_DECLARED)};
}

std::int64_t Claims::mask_count(std::int32_t dtype, const Extents& extents) const {
  return std::max<std::int64_t>(extents.L - 1, 0) * (masks_per_direction[dtype] ? extents.D : 1);
}

void Claims::declare(const Declared& declared) {
#define BACKGAUGE_DECLARE(property, ...) \
  if (find_property(#property)->is_of(spec().traits)) property = declared.property;
  BACKGAUGE_ROUNDING_CLAIMS(BACKGAUGE_DECLARE, BACKGAUGE_DECLARE, BACKGAUGE_DECLARE)
}

void Property::set_all(Claims& claims, double value) const {
  set(claims, kEveryDtype, value);
  for (const backgauge_dtype dtype : kFloatDtypes) set(claims, dtype, value);
}

std::uint32_t Property::all(const OpSpec& op) const {
  if (name == "dtypes") return op.dtypes;
  std::uint32_t values = 0;
  for (std::int32_t enumerator = 0; enumerator < kEnumerators; ++enumerator) {
    if (word(enumerator) != "?") values |= BACKGAUGE_BIT(enumerator);
  }
  return values;
}

double Property::usual_for(const OpSpec& op) const { return kind == Kind::kSet ? all(op) : usual; }

bool Property::allows(const OpSpec& op, double value) const {
  if (!(value >= 0 && value <= kNoLimit)) return false;
  if (kind == Kind::kError) return true;
  if (std::floor(value) != value) return false;
  if (kind == Kind::kNumber) return value >= least;
  if (kind == Kind::kSet) return value > 0 && value <= all(op) && (static_cast<std::uint32_t>(value) & ~all(op)) == 0;
  return value < kEnumerators && has(all(op), static_cast<std::int32_t>(value));
}

std::string Property::expected(const OpSpec& op) const {
  if (kind == Kind::kFlag) return "0 or 1";
  if (kind == Kind::kError) return expected_text();
  if (kind == Kind::kNumber) return "a whole number from " + number_text(least) + " to 2^53";
  return (kind == Kind::kSet ? "a set of " : "one of ") + enumerators_in(word, all(op));
}

std::string Property::expected_text() const {
  if (kind == Kind::kError) return "a number of at least 0, such as 2^-17";
  return "one of " + backgauge::words_in(word);
}

std::vector<std::string> Property::words_of(double value) const {
  if (kind == Kind::kError) return {error_text(value)};
  if (kind == Kind::kNumber) return {number_text(value)};
  if (kind == Kind::kSet) return words_in(static_cast<std::uint32_t>(value));
  return {std::string(word(static_cast<std::int32_t>(value)))};
}

std::vector<std::string> Property::words_in(std::uint32_t values) const {
  std::vector<std::string> out;
  for (std::int32_t enumerator = 0; enumerator < kEnumerators; ++enumerator) {
    if (has(values, enumerator)) out.emplace_back(word(enumerator));
  }
  return out;
}

std::optional<double> Property::parse(std::string_view text) const {
  if (kind == Kind::kError) return parse_error(text);
  for (std::int32_t enumerator = 0; word != nullptr && enumerator < kEnumerators; ++enumerator) {
    if (word(enumerator) == text && text != "?") return enumerator;
  }
  return std::nullopt;
}

std::vector<Stated> stated(const Property& property, const Claims& claims) {
  std::vector<Stated> out;
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if (claims.takes(dtype) && property.matters_for(dtype)) out.emplace_back(dtype, property.get(claims, dtype));
  }
  const bool is_one = std::ranges::all_of(out, [&](const Stated& each) { return each.second == out.front().second; });
  if (is_one && !out.empty()) out = {{kEveryDtype, out.front().second}};
  return out;
}

std::string stated_text(const Property& property, const Claims& claims) {
  std::string out;
  for (const auto& [dtype, value] : stated(property, claims)) {
    const std::vector<std::string> words = property.words_of(value);
    if (dtype == kEveryDtype) return joined(words, ",");
    out.append(out.empty() ? "" : ",").append(dtype_word(dtype)).append(":").append(joined(words, "+"));
  }
  return out;
}

bool is_worth_stating(const Property& property, const Claims& claims) {
  const double usual = property.usual_for(claims.spec());
  return property.is_required ||
         std::ranges::any_of(stated(property, claims), [&](const Stated& each) { return each.second != usual; });
}

namespace {

// What is wrong with one claim about an op by itself, or "".
std::string refusal_of(const OpSpec& op, const backgauge_claim& claim) {
  if (claim.property == nullptr) return "property: expected a name, got NULL";
  const std::string name = claim.property;
  const Property* property = find_property(name);
  if (property == nullptr) {
    std::vector<std::string> known;
    for (const Property* each : properties_of(op)) known.emplace_back(each->name);
    return '"' + shown_name(claim.property) + "\" is not a property that this backgauge knows; known are " +
           joined(known, ", ");
  }
  if (!property->is_of(op.traits)) return name + ": " + std::string(op.tensorflow) + " does not have this property";
  if (claim.reserved != 0) return name + ": reserved: expected 0, got " + std::to_string(claim.reserved);
  const std::uint32_t dtypes = name == "dtypes" ? 0 : op.dtypes;
  if (claim.dtype != kEveryDtype && !has(dtypes, claim.dtype)) {
    const std::string others = dtypes == 0 ? "" : " or one of " + enumerators_in(dtype_word, dtypes);
    return name + ": dtype: expected 0" + others + ", got " + std::to_string(claim.dtype);
  }
  if (property->allows(op, claim.value)) return "";
  return name + ": expected " + property->expected(op) + ", got " + number_text(claim.value);
}

}  // namespace

std::optional<Claims> read_claims(const backgauge_op_claims& table, std::string& refusal) {
  refusal.clear();
  const OpSpec* op = find_op(table.op);
  if (op == nullptr || op->traits.gradient) {
    refusal = "op " + std::to_string(table.op) + ", expected a gradient op";
  } else if (table.num_claims < 1 || table.claims == nullptr) {
    refusal = "claims: expected at least one";
  }
  if (!refusal.empty()) return std::nullopt;
  Claims out(op->op);
  std::vector<std::uint32_t> given(properties().size());  // the dtypes of the claims about each property
  for (std::int32_t k = 0; k < table.num_claims; ++k) {
    const backgauge_claim& claim = table.claims[k];
    refusal = refusal_of(*op, claim);
    if (!refusal.empty()) return std::nullopt;
    const Property& property = *find_property(claim.property);
    std::uint32_t& dtypes = given[static_cast<std::size_t>(&property - properties().data())];
    if (has(dtypes, claim.dtype)) {
      const std::string what = claim.dtype == kEveryDtype ? "all dtypes" : std::string(dtype_word(claim.dtype));
      refusal = std::string(property.name) + ": claimed twice for " + what;
      return std::nullopt;
    }
    dtypes |= BACKGAUGE_BIT(claim.dtype);
    property.set(out, claim.dtype, claim.value);
  }
  for (const Property* property : properties_of(*op)) {
    const std::uint32_t dtypes = given[static_cast<std::size_t>(property - properties().data())];
    for (const backgauge_dtype dtype : kFloatDtypes) {
      if (has(dtypes, dtype)) continue;
      property->set(out, dtype, property->get(out, kEveryDtype));
      if (has(dtypes, kEveryDtype) || !property->is_required || !out.takes(dtype) || !property->matters_for(dtype))
        continue;
      refusal = std::string(property->name) + " is missing: expected " + property->expected(*op);
      return std::nullopt;
    }
  }
  return out;
}

namespace {

std::int64_t value_in(const Property& property, const backgauge_attributes& attributes, const Extents& extents) {
  return property.attribute != nullptr ? attributes.*property.attribute->choice : extents.*property.size;
}

bool takes_value(const Property& property, double claimed, std::int64_t value) {
  if (property.attribute != nullptr) return has(static_cast<std::uint32_t>(claimed), static_cast<std::int32_t>(value));
  const auto limit = static_cast<std::int64_t>(claimed);
  switch (property.limit) {
    case Limit::kLeast: return value >= limit;
    case Limit::kGreatest: return value <= limit;
    default: return limit == 1 || value % limit == 0;
  }
}

std::string why_not_taken(const Property& property, double claimed, std::int64_t value) {
  if (const AttributeSpec* attribute = property.attribute) {
    const std::string_view word = attribute->word(static_cast<std::int32_t>(value));
    return std::string(attribute->name).append(" ").append(word).append(" is not claimed");
  }
  constexpr std::string_view kHow[] = {"at least", "at most", "multiples of"};
  return std::string(property.size_name)
      .append(" = " + std::to_string(value) + " is not claimed: ")
      .append(kHow[static_cast<std::size_t>(property.limit)])
      .append(" " + std::to_string(static_cast<std::int64_t>(claimed)));
}

// Those that say which calls are claimed by the values of an attribute or by a size.
const std::vector<const Property*>& properties_of_values() {
  static const std::vector<const Property*> all = [] {
    std::vector<const Property*> out;
    for (const Property& property : properties()) {
      if (property.attribute != nullptr || property.size != nullptr) out.push_back(&property);
    }
    return out;
  }();
  return all;
}

}  // namespace

// Asked in every call, so that no text is made where nothing is wrong.
std::string unclaimed_call(const Claims& claims, std::int32_t dtype, const backgauge_attributes& attributes,
                           const Extents& extents) {
  const OpSpec& op = claims.spec();
  if (!claims.takes(dtype)) return "dtype " + std::string(dtype_word(dtype)) + " is not claimed";
  if (!claims.dropout[dtype] && has_random_dropout(attributes, extents)) {
    return "dropout between 0 and 1 is not claimed";
  }
  for (const Property* property : properties_of_values()) {
    if (!property->is_of(op.traits)) continue;
    const double claimed = property->get(claims, dtype);
    const std::int64_t value = value_in(*property, attributes, extents);
    if (!takes_value(*property, claimed, value)) return why_not_taken(*property, claimed, value);
  }
  return "";
}

bool has_random_dropout(const backgauge_attributes& attributes, const Extents& extents) {
  return extents.L > 1 && attributes.dropout > 0 && attributes.dropout < 1;
}

ClaimArrays::ClaimArrays(const std::vector<Claims>& claims) {
  for (const Claims& each : claims) {
    std::vector<backgauge_claim>& out = claims_.emplace_back();
    for (const Property* property : properties_of(each.spec())) {
      if (!is_worth_stating(*property, each)) continue;
      for (const auto& [dtype, value] : stated(*property, each)) {
        out.push_back({property->name.data(), value, dtype, 0});
      }
    }
  }
  for (std::size_t k = 0; k < claims.size(); ++k) {
    ops_.push_back({claims[k].op, static_cast<std::int32_t>(claims_[k].size()), claims_[k].data()});
  }
}

}  // namespace backgauge
