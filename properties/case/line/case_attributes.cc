// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case_attributes.h"

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

const SizeSpec* size_spec(char letter) { return &*std::ranges::find(size_specs(), letter, &SizeSpec::letter); }

#define BACKGAUGE_COMMON_CASE_SIZE(letter, field, key) {size_spec(*#letter), &Case::field},
#define BACKGAUGE_OWN_CASE_SIZE(fact, ...) BACKGAUGE_COMMON_CASE_SIZE(__VA_ARGS__)

}  // namespace

const std::vector<CaseAttribute>& case_attributes() {
  static const std::vector<CaseAttribute> all = {BACKGAUGE_ATTRIBUTES(
      BACKGAUGE_CASE_ATTRIBUTE, BACKGAUGE_CASE_ATTRIBUTE, BACKGAUGE_CASE_ATTRIBUTE, BACKGAUGE_DECIDED_BY_SEED)};
  return all;
}

const std::vector<CaseSize>& case_sizes() {
  static const std::vector<CaseSize> all = {BACKGAUGE_SIZES(BACKGAUGE_COMMON_CASE_SIZE, BACKGAUGE_OWN_CASE_SIZE)};
  return all;
}

}  // namespace backgauge
