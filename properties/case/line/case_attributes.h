// SPDX-License-Identifier: Apache-2.0
// The attributes and sizes of a case: those of ops.inc, as members of Case.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge {

struct CaseAttribute {
  const AttributeSpec* spec;
  double (*get)(const Case&);  // an enumerator, or the number itself
  void (*set)(Case&, double);

  double usual() const { return spec->choice != nullptr ? spec->usual : spec->least; }
  bool is_usual(const Case& c) const { return get(c) == usual(); }
};

// Those of all ops, in the order of case lines, without the ones that the seed of a case decides.
const std::vector<CaseAttribute>& case_attributes();

// Those of one op.
inline std::vector<std::reference_wrapper<const CaseAttribute>> case_attributes(const OpTraits& op) {
  std::vector<std::reference_wrapper<const CaseAttribute>> out;
  for (const CaseAttribute& attribute : case_attributes()) {
    if (op.*attribute.spec->fact) out.emplace_back(attribute);
  }
  return out;
}

// The member of Case that has a size.
std::int64_t Case::*case_member(const SizeSpec& size);

}  // namespace backgauge
