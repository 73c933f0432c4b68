// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/correct.h"

#include <algorithm>

#include "ci/run/implementation/load_implementation.h"
#include "impl/registry.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/runner/refusals.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {

std::vector<Correct> correct_implementations() {
  std::vector<Correct> out;
  const auto& variants = saboteurs::variants();
  for (std::size_t n = 0; n < variants.size(); ++n) {
    if (variants[n].kind != saboteurs::Kind::kCorrect) continue;
    out.push_back({variants[n].id, variants[n].what, &saboteurs::implementation(n)});
  }
  for (const std::string& name : registry_names()) {
    const backgauge_implementation& implementation = load_implementation(name);
    out.push_back({name, implementation.description, &implementation});
  }
  return out;
}

void count(CorrectResult& result, const Case& c, const Judged& judged) {
  if (judged.status == Status::kSkipped) {
    ++result.skipped;
    return;
  }
  ++result.runs;
  result.passed += judged.status == Status::kPassed;
  result.mistrusted += judged.status == Status::kMistrusted;
  if (judged.killed()) {
    result.false_alarms.push_back(to_string(c) + ": " + judged.evidence);
  } else {
    result.worst_ratio = std::max(result.worst_ratio, judged.margin);
  }
}

void count_refusals(CorrectResult& result, const backgauge_implementation& implementation, backgauge_op op,
                    backgauge_op called, std::size_t step) {
  const std::optional<Claims> claims = claims_of(implementation, op);
  if (!claims) return;
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if (!claims->takes(dtype)) continue;
    for (const WrongAnswer& wrong : refusals(implementation, called, dtype, step).wrong) {
      result.false_alarms.push_back("malformed call " + wrong.call + ": " + wrong.fault);
    }
  }
}

}  // namespace backgauge::cli
