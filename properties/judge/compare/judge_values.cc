// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/judge_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/compare.h"
#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {

Verdict judge_values(const std::vector<Wanted>& wanted, const std::vector<GivenTensor>& given, const Problem& problem,
                     const Declared& declared) {
  std::vector<TensorReport> reports;
  for (const Wanted& tensor : wanted) {
    if (const std::string fault = faulty_bound(tensor); !fault.empty()) return broken(fault);
    const auto found = std::ranges::find(given, tensor.name, &GivenTensor::name);
    if (found == given.end()) return failed(tensor.name + " is missing");
    if (found->dtype != problem.dtype) {
      return failed(fmt::format("{}: expected dtype {}, got {}", tensor.name, dtype_word(problem.dtype),
                                dtype_word(found->dtype)));
    }
    if (found->shape != tensor.shape || found->values.size() != tensor.value.size()) {
      return failed(fmt::format("{}: expected shape {}, got {} with {} values", tensor.name, to_string(tensor.shape),
                                to_string(found->shape), found->values.size()));
    }
    reports.push_back(report_of(tensor, found->values, {}, problem, declared));
  }
  return conclude(std::move(reports));
}

Verdict judge_outputs(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
                      const Declared& declared) {
  if (std::string reason = undecidable(declared, problem, expected.facts()); !reason.empty()) {
    return {Status::kSkipped, std::move(reason), {}};
  }
  return judge_values(expected.all(problem, declared), given, problem, declared);
}

}  // namespace backgauge
