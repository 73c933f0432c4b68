// SPDX-License-Identifier: Apache-2.0
#include "perf/expected.h"

namespace backgauge {
namespace {

// Half classes make no difference to other dtypes: most contestants then want the same.
Declared effective(Declared declared, const Problem& problem) {
  if (problem.dtype != BACKGAUGE_HALF) declared.half_class = BACKGAUGE_CLASS_A;
  return declared;
}

}  // namespace

std::vector<Wanted> Expected::operator()(const Problem& problem, const Declared& given, RoundingErrors roundings) {
  const Declared declared = effective(given, problem);
  for (const Answer& answer : answers_) {
    if (answer.op == problem.op && answer.declared == declared && answer.roundings == roundings &&
        answer.keep == problem.keep) {
      return answer.wanted;
    }
  }
  answers_.push_back({problem.op, problem.keep, declared, roundings, oracle(problem, declared, roundings)});
  return answers_.back().wanted;
}

}  // namespace backgauge
