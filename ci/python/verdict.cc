// SPDX-License-Identifier: Apache-2.0
#include "ci/python/verdict.h"

#include <nanobind/stl/string.h>

#include "ci/run/explain/diagnosis.h"
#include "properties/judge/compare/judge_outputs.h"
#include "properties/judge/compare/verdict_text.h"

namespace nb = nanobind;

namespace backgauge::python {

nb::tuple verdict_on(const std::map<std::string, UserArray>& outputs, ExpectedOutputs& expected, const Problem& problem,
                     const Declared& declared) {
  const std::vector<GivenTensor> given = outputs_of(outputs);
  Verdict verdict;
  {
    const nb::gil_scoped_release released;
    verdict = judge_outputs(expected, problem, given, declared);
    cli::diagnose(expected, problem, given, declared, "half_class=\"{}\"", verdict);
  }
  return nb::make_tuple(std::string(verdict_word(verdict.status)), verdict_text(verdict));
}

}  // namespace backgauge::python
