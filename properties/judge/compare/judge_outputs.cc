// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/judge_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/compare.h"
#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {
namespace {

// Whether one of the outputs of the problem's forward is given.
bool gives_forward(const Problem& problem, const std::vector<GivenTensor>& given) {
  const std::vector<TensorSpec>& outputs = spec_of(traits_of(problem.op).forward.value()).outputs;
  return std::ranges::any_of(given, [&](const GivenTensor& tensor) {
    return std::ranges::find(outputs, tensor.name, &TensorSpec::name) != outputs.end();
  });
}

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

}  // namespace

Verdict judge_outputs(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
                      const Declared& declared) {
  if (std::string reason = undecidable(declared, expected.facts()); !reason.empty()) {
    return {Status::kSkipped, std::move(reason), {}};
  }
  if (!traits_of(problem.op).forward || gives_forward(problem, given)) {
    return judge_values(expected.all(problem, declared), given, problem, declared);
  }
  Verdict verdict = judge_values(expected.gradient(problem, declared), given, problem, declared);
  verdict.note +=
      (verdict.note.empty() ? "" : "; ") + std::string("without outputs of the forward, which were not given");
  return verdict;
}

}  // namespace backgauge
