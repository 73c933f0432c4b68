// SPDX-License-Identifier: Apache-2.0
#include "ci/python/verdict.h"

#include <nanobind/stl/string.h>

#include "ci/run/explain/diagnosis.h"
#include "ci/run/explain/own_data.h"
#include "properties/judge/compare/judge_outputs.h"
#include "properties/judge/compare/verdict_text.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

std::string keyword_text(const Property& property, const std::string& word) {
  if (property.kind == Property::Kind::kFlag) return std::string(property.name) + "=True";
  return std::string(property.name) + "=\"" + word + '"';
}

}  // namespace

nb::tuple verdict_on(const std::map<std::string, UserArray>& outputs, ExpectedOutputs& expected, const Problem& problem,
                     const Claims& claims, Inputs inputs) {
  const std::vector<GivenTensor> given = outputs_of(outputs);
  Verdict verdict;
  {
    const nb::gil_scoped_release released;
    const Declared terms = declared(claims, problem.dtype);
    verdict = judge_outputs(expected, problem, given, terms);
    cli::diagnose(expected, problem, given, claims, keyword_text, verdict);
    if (inputs == Inputs::kOwn) cli::explain_own(expected, problem, terms, verdict);
  }
  return nb::make_tuple(std::string(verdict_word(verdict.status)), verdict_text(verdict));
}

}  // namespace backgauge::python
