// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case_attributes.h"

#include <algorithm>
#include <stdexcept>

#include "reference/contract/ops.inc"

namespace backgauge {
namespace {

const AttributeSpec* spec_named(std::string_view name) {
  return &*std::ranges::find(attribute_specs(), name, &AttributeSpec::name);
}

#define BACKGAUGE_CASE_ATTRIBUTE(fact, field, ...)                                 \
  {spec_named(#field), [](const Case& c) { return static_cast<double>(c.field); }, \
   [](Case& c, double value) { c.field = static_cast<decltype(c.field)>(value); }},
#define BACKGAUGE_DECIDED_BY_SEED(...)

}  // namespace

const std::vector<CaseAttribute>& case_attributes() {
  static const std::vector<CaseAttribute> all = {BACKGAUGE_ATTRIBUTES(
      BACKGAUGE_CASE_ATTRIBUTE, BACKGAUGE_CASE_ATTRIBUTE, BACKGAUGE_CASE_ATTRIBUTE, BACKGAUGE_DECIDED_BY_SEED)};
  return all;
}

std::int64_t Case::*case_member(const SizeSpec& size) {
#define BACKGAUGE_COMMON_MEMBER(letter_, field, key) \
  if (size.letter == *#letter_) return &Case::field;
#define BACKGAUGE_OWN_MEMBER(fact, ...) BACKGAUGE_COMMON_MEMBER(__VA_ARGS__)
  BACKGAUGE_SIZES(BACKGAUGE_COMMON_MEMBER, BACKGAUGE_OWN_MEMBER)
  throw std::logic_error("Case has no such size");
}

}  // namespace backgauge
