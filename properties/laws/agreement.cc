// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/agreement.h"

#include <cmath>
#include <stdexcept>

#include "properties/judge/compare/compare.h"
#include "properties/judge/compare/verdict_text.h"

namespace backgauge {

Agreement::Agreement(const backgauge_implementation& implementation, const Case& c)
    : Agreement(c.dtype, declared(*claims_of(implementation, c.op), c.dtype)) {}

void Agreement::expect(const Wanted& got, const Wanted& expected) {
  if (got.shape != expected.shape) {
    throw std::logic_error(got.name + ": expected shape " + to_string(expected.shape) + ", got " +
                           to_string(got.shape));
  }
  ++expectations_;
  Wanted both = expected;
  for (std::size_t k = 0; k < both.allowed.size(); ++k) {
    both.allowed[k] += got.allowed[k];
    if (std::isnan(got.value[k]) && std::isinf(got.allowed[k])) both.value[k] = got.value[k];  // may be anything
  }
  const TensorReport report =
      compare(both, std::vector<double>(got.value.begin(), got.value.end()), {}, dtype_, declared_);
  if (report.bad > 0 && broken_.empty()) broken_ = tensor_text(report);
  if (report.vacuous && vacuous_.empty()) vacuous_ = tensor_text(report);
}

Finding Agreement::finding() const {
  if (!broken_.empty()) return {Outcome::kBroken, broken_};
  if (!vacuous_.empty()) return {Outcome::kSaysNothing, vacuous_};
  if (expectations_ == 0) return {Outcome::kSaysNothing, "nothing was compared"};
  return {Outcome::kHolds, ""};
}

}  // namespace backgauge
