// SPDX-License-Identifier: Apache-2.0
#include "ci/run/explain/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>

#include "ci/run/explain/known_fault_match.h"
#include "properties/case/draw/inputs.h"
#include "properties/explain/hint.h"
#include "properties/explain/term_hint.h"
#include "properties/judge/compare/claims.h"

namespace backgauge::cli {
namespace {

const TensorReport* first_bad(const Verdict& verdict) {
  const auto bad = std::ranges::find_if(verdict.tensors, [](const TensorReport& tensor) { return tensor.bad > 0; });
  return bad == verdict.tensors.end() ? nullptr : &*bad;
}

// Whether it failed because of wrong values, and not because elements were never written.
bool is_of_values(const Verdict& verdict) {
  const TensorReport* bad = first_bad(verdict);
  return verdict.status == Status::kFailed && bad != nullptr && bad->unwritten == 0 && bad->worst >= 0;
}

// No values where an output is missing.
std::vector<Values64> in_order_of(const std::vector<Wanted>& wanted, const std::vector<GivenTensor>& given) {
  std::vector<Values64> out;
  for (const Wanted& tensor : wanted) {
    const auto output = std::ranges::find(given, tensor.name, &GivenTensor::name);
    out.push_back(output == given.end() ? Values64{} : output->values);
  }
  return out;
}

std::string hint_of(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
                    const Declared& declared, const TensorReport& bad) {
  const std::vector<Wanted>& wanted = expected.gradient(problem, declared);
  const auto output = std::ranges::find(given, bad.name, &GivenTensor::name);
  const auto place = std::ranges::find(wanted, bad.name, &Wanted::name);
  if (bad.nonfinite > 0 || output == given.end() || place == wanted.end()) return "";
  const std::string text = hint(problem, wanted, static_cast<std::size_t>(place - wanted.begin()), output->values);
  if (!text.empty() || !is_quick(problem) || has_random_dropout(problem)) return text;
  const std::string known = known_fault_match(problem, wanted, given);
  return known.empty() ? term_hint(problem, wanted, in_order_of(wanted, given)) : known;
}

// The next wider accuracy class that the outputs pass as, or 0.
std::int32_t wider_class(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
                         Declared declared) {
  if (!is_narrow(problem.dtype)) return 0;
  for (std::int32_t wider = declared.accuracy_class + 1; wider <= BACKGAUGE_CLASS_B; ++wider) {
    declared.accuracy_class = static_cast<backgauge_accuracy_class>(wider);
    if (judge_outputs(expected, problem, given, declared).status == Status::kPassed) return wider;
  }
  return 0;
}

}  // namespace

void diagnose(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
              const Declared& declared, const std::string& how, Verdict& verdict) {
  if (!is_of_values(verdict)) return;
  verdict.hint = hint_of(expected, problem, given, declared, *first_bad(verdict));
  if (const std::int32_t wider = wider_class(expected, problem, given, declared); wider != 0) {
    const std::string_view word = accuracy_class_word(wider);
    verdict.passes_as =
        fmt::format("FAILED as class {}; passes as class {} ({})", accuracy_class_word(declared.accuracy_class), word,
                    fmt::format(fmt::runtime(how), word));
  }
}

void diagnose(Runner& runner, const Case& c, int num_threads, Verdict& verdict) {
  if (c.data == DataProfile::kMalformed || !is_of_values(verdict)) return;
  const Filled filled = fill(c);
  if (!filled.error.empty()) return;
  CaseSession session(runner, filled.problem, filled.facts);
  if (session.claims() == nullptr || session.draws_masks()) return;
  RunOptions options;
  options.num_threads = num_threads;
  const std::vector<GivenTensor> given = given_by(session, options);
  runner.end_case();
  ExpectedOutputs expected(filled.facts);
  diagnose(expected, filled.problem, given, session.declared(), "half_class of its claims: {}", verdict);
}

}  // namespace backgauge::cli
