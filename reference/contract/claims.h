// SPDX-License-Identifier: Apache-2.0
// The claims of an implementation about one op, and the properties that can be claimed, made from claims.inc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/contract/claims.inc"
#include "reference/contract/op_spec.h"
#include "reference/contract/ops.inc"

namespace backgauge {

inline constexpr std::int32_t kEveryDtype = 0;  // the dtype of a claim about all calls

// The value of a property for each dtype, a number as in backgauge_claim whatever its kind.
template <class T>
class PerDtype {
 public:
  PerDtype& operator=(T value) {
    values_.fill(static_cast<double>(value));
    return *this;
  }
  void set(std::int32_t dtype, T value) { set_number(dtype, static_cast<double>(value)); }
  // Of any other number than the dtype of a call: what is claimed about all calls.
  T operator[](std::int32_t dtype) const { return static_cast<T>(number(dtype)); }

  double number(std::int32_t dtype) const { return values_[place(dtype)]; }
  void set_number(std::int32_t dtype, double value) { values_[place(dtype)] = value; }

  bool operator==(const PerDtype&) const = default;

 private:
  static std::size_t place(std::int32_t dtype) {
    const DtypeSpec* spec = find_dtype(dtype);
    return spec == nullptr ? 0 : static_cast<std::size_t>(1 + (spec - kDtypeSpecs.data()));
  }

  std::array<double, 1 + kFloatDtypes.size()> values_{};  // of all calls, then of each dtype
};

#define BACKGAUGE_NO_MEMBER(...)
#define BACKGAUGE_DTYPES_MEMBER(name, ...) PerDtype<std::uint32_t> name;
#define BACKGAUGE_SET_MEMBER(fact, attribute, key, name, ...) PerDtype<std::uint32_t> name;
#define BACKGAUGE_WORD_MEMBER(name, type, ...) PerDtype<type> name;
#define BACKGAUGE_FLAG_MEMBER(name, ...) PerDtype<bool> name;
#define BACKGAUGE_ERROR_MEMBER(name, ...) PerDtype<double> name;
#define BACKGAUGE_LIMIT_MEMBERS(size, ...) PerDtype<std::int64_t> least_##size, greatest_##size, multiple_of_##size;

struct Declared;

// A member for each property. Sets consist of BACKGAUGE_BIT(enumerator).
struct Claims {
  std::int32_t op;  // backgauge_op
  BACKGAUGE_SCOPE_CLAIMS(BACKGAUGE_DTYPES_MEMBER, BACKGAUGE_FLAG_MEMBER)
  BACKGAUGE_ATTRIBUTES(BACKGAUGE_SET_MEMBER, BACKGAUGE_SET_MEMBER, BACKGAUGE_NO_MEMBER, BACKGAUGE_NO_MEMBER)
  BACKGAUGE_LIMIT_CLAIMS(BACKGAUGE_LIMIT_MEMBERS)
  BACKGAUGE_ROUNDING_CLAIMS(BACKGAUGE_WORD_MEMBER, BACKGAUGE_FLAG_MEMBER, BACKGAUGE_ERROR_MEMBER)
  BACKGAUGE_CHECK_CLAIMS(BACKGAUGE_WORD_MEMBER, BACKGAUGE_FLAG_MEMBER)

  // The usual value of every property: all calls of a gradient op, computed in float at least, rounded once, and
  // repeated bit by bit.
  explicit Claims(backgauge_op gradient = kFirstOp);

  const OpSpec& spec() const { return *find_op(op); }
  bool takes(std::int32_t dtype) const;

  // How many masks dropout_mask hands over: one for each gap between two layers, or for each direction above a gap.
  std::int64_t mask_count(std::int32_t dtype, const Extents& extents) const;

  // For every dtype; what is not a property of the op keeps its usual value.
  void declare(const Declared& declared);

  bool operator==(const Claims&) const = default;
};

#undef BACKGAUGE_NO_MEMBER
#undef BACKGAUGE_DTYPES_MEMBER
#undef BACKGAUGE_SET_MEMBER
#undef BACKGAUGE_WORD_MEMBER
#undef BACKGAUGE_FLAG_MEMBER
#undef BACKGAUGE_ERROR_MEMBER
#undef BACKGAUGE_LIMIT_MEMBERS

#define BACKGAUGE_WORD_MEMBER(name, type, words, usual, ...) type name = usual;
#define BACKGAUGE_FLAG_MEMBER(name, usual, ...) bool name = usual;
#define BACKGAUGE_ERROR_MEMBER(name, ...) double name = 0;

// The properties that change where results of one dtype are rounded.
struct Declared {
  BACKGAUGE_ROUNDING_CLAIMS(BACKGAUGE_WORD_MEMBER, BACKGAUGE_FLAG_MEMBER, BACKGAUGE_ERROR_MEMBER)

  // Whether co is taken as tanh(cs), however the saved one was rounded.
  bool computes_co() const { return recomputes_co || recomputes_forward; }

  bool operator==(const Declared&) const = default;
};

#undef BACKGAUGE_WORD_MEMBER
#undef BACKGAUGE_FLAG_MEMBER
#undef BACKGAUGE_ERROR_MEMBER

Declared declared(const Claims& claims, std::int32_t dtype);

// What a property changes: which calls are made, the allowed errors, or what is checked besides.
enum class Effect { kScope, kRounding, kCheck };
inline constexpr std::array<std::string_view, 3> kEffectWords = {"scope", "rounding", "check"};

// How a number limits a size.
enum class Limit { kLeast, kGreatest, kMultiple };

struct Property {
  using Size = std::int64_t Extents::*;
  enum class Kind { kWord, kSet, kFlag, kNumber, kError };

  std::string_view name;
  Kind kind;
  Effect effect;
  double (*get)(const Claims& claims, std::int32_t dtype);
  void (*set)(Claims& claims, std::int32_t dtype, double value);
  bool (*is_of)(const OpTraits& op);
  std::string_view documentation;
  bool is_required = false;
  bool is_narrow = false;                    // it matters for half and bfloat16 only
  double usual = 0;                          // of a set: all values
  double least = 0;                          // of a number: its smallest legal value
  int least_power = 0, greatest_power = 0;   // of an error: powers of two that are worth a try
  WordOf word = nullptr;                     // of words, sets and flags
  std::string_view enumerators{};            // of words: "backgauge_accuracy_class"
  const AttributeSpec* attribute = nullptr;  // of sets but dtypes: what they list the values of
  std::string_view size_name{};              // of numbers: "H", "layers"
  Size size = nullptr;                       // of numbers: what they limit
  Limit limit = Limit::kLeast;

  void set_all(Claims& claims, double value) const;  // for every dtype
  bool matters_for(std::int32_t dtype) const { return !is_narrow || backgauge::is_narrow(dtype); }

  // The largest set of values of an op.
  std::uint32_t all(const OpSpec& op) const;
  double usual_for(const OpSpec& op) const;
  bool allows(const OpSpec& op, double value) const;

  // "one of A (1), A' (2), S (3), B (4)", "0 or 1": the legal values.
  std::string expected(const OpSpec& op) const;
  std::string expected_text() const;  // what parse() takes

  // One word, or those in a set, or a number; an error that is a power of two as "2^-17".
  std::vector<std::string> words_of(double value) const;
  std::vector<std::string> words_in(std::uint32_t values) const;

  // The enumerator of a word, or of "0" or "1"; an error as words_of() writes it, or as a decimal number; nullopt if
  // there is none.
  std::optional<double> parse(std::string_view text) const;
};

// All properties, in the order of claims.inc.
const std::vector<Property>& properties();

// The property with that name, or nullptr.
const Property* find_property(std::string_view name);

// The properties of an op.
std::vector<const Property*> properties_of(const OpSpec& op);

// A value and the dtype that it holds for.
using Stated = std::pair<std::int32_t, double>;

// What is claimed of a property: one value with kEveryDtype if it is the same for all claimed dtypes that it matters
// for, otherwise one for each; nothing if it matters for none.
std::vector<Stated> stated(const Property& property, const Claims& claims);

// The same in words: "B", "lstm,gru", "f16:B,bf16:A'"; sets that differ as "f16:lstm+gru,f32:lstm"; "" for nothing.
std::string stated_text(const Property& property, const Claims& claims);

// Whether a table that has these claims must say so: it is required, or not as usual.
bool is_worth_stating(const Property& property, const Claims& claims);

// The claims of a table about one op. nullopt if the table is wrong, and then `refusal` says which property, what was
// expected and what it is.
std::optional<Claims> read_claims(const backgauge_op_claims& table, std::string& refusal);

// Why a legal call is not claimed: "H = 7 is not claimed: multiples of 8". "" if it is. The op is that of the claims.
std::string unclaimed_call(const Claims& claims, std::int32_t dtype, const backgauge_attributes& attributes,
                           const Extents& extents);

// Whether correct results depend on dropout masks: 0 < dropout < 1, and at least two layers.
bool has_random_dropout(const backgauge_attributes& attributes, const Extents& extents);

// Claims as a table has them.
class ClaimArrays {
 public:
  ClaimArrays() = default;
  explicit ClaimArrays(const std::vector<Claims>& claims);
  ClaimArrays(ClaimArrays&&) = default;
  ClaimArrays& operator=(ClaimArrays&&) = default;

  const backgauge_op_claims* data() const { return ops_.data(); }
  std::int32_t size() const { return static_cast<std::int32_t>(ops_.size()); }

 private:
  std::vector<std::vector<backgauge_claim>> claims_;
  std::vector<backgauge_op_claims> ops_;  // points into claims_
};

}  // namespace backgauge
