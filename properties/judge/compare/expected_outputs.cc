// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/expected_outputs.h"

#include <algorithm>
#include <tuple>

#include "properties/judge/compare/compare.h"
#include "properties/judge/compare/independence.h"

namespace backgauge {
namespace {

auto fields(const backgauge_attributes& a) {
  return std::tie(a.use_peephole, a.rnn_mode, a.input_mode, a.direction, a.seed, a.seed2, a.dropout);
}

// Accuracy classes do not matter for other dtypes, so most contestants share one evaluation.
Declared effective(Declared declared, const Problem& problem) {
  if (!is_narrow(problem.dtype)) declared.accuracy_class = BACKGAUGE_CLASS_A;
  return declared;
}

}  // namespace

ExpectedOutputs::ExpectedOutputs(const DataFacts& facts, Oracle oracle) : facts_(facts), oracle_(std::move(oracle)) {}

const std::vector<Wanted>& ExpectedOutputs::gradient(const Problem& problem, const Declared& declared) {
  return sharpest(problem.op, problem, declared);
}

const std::vector<Wanted>& ExpectedOutputs::forward(const Problem& problem, const Declared& declared) {
  return sharpest(traits_of(problem.op).forward.value(), problem, declared);
}

std::vector<Wanted> ExpectedOutputs::all(const Problem& problem, const Declared& declared) {
  std::vector<Wanted> out;
  if (traits_of(problem.op).forward) out = forward(problem, declared);
  const std::vector<Wanted>& last = gradient(problem, declared);
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

const std::vector<Wanted>& ExpectedOutputs::rigorous_gradient(const Problem& problem, const Declared& declared) {
  return answer(problem.op, problem, declared, RoundingErrors::kCorrelated);
}

RoundingErrors ExpectedOutputs::rounding_errors() const {
  return facts_.structured || facts_.nonfinite ? RoundingErrors::kCorrelated : RoundingErrors::kIndependent;
}

std::string ExpectedOutputs::why_rigorous(const Problem& problem, const Declared& declared) const {
  return facts_.nonfinite ? "there are values that are not finite" : why_not_independent(problem, declared);
}

const std::vector<Wanted>& ExpectedOutputs::sharpest(backgauge_op op, const Problem& problem,
                                                     const Declared& declared) {
  const RoundingErrors known = rounding_errors();
  const std::vector<Wanted>& wanted = answer(op, problem, declared, known);
  const auto vacuous = [&](const Wanted& tensor) { return is_vacuous(resolution(tensor), problem.dtype, declared); };
  const bool enough = known == RoundingErrors::kIndependent || std::ranges::none_of(wanted, vacuous);
  if (enough || !why_rigorous(problem, declared).empty()) return wanted;
  return answer(op, problem, declared, RoundingErrors::kIndependent);
}

bool ExpectedOutputs::Question::operator==(const Question& other) const {
  return op == other.op && fields(attributes) == fields(other.attributes) && declared == other.declared &&
         roundings == other.roundings && keep == other.keep;
}

const std::vector<Wanted>& ExpectedOutputs::answer(backgauge_op op, const Problem& problem, const Declared& declared,
                                                   RoundingErrors roundings) {
  Question question{op, problem.attributes, effective(declared, problem), roundings, problem.keep};
  const auto known = std::ranges::find(answers_, question, &Answer::question);
  if (known != answers_.end()) return known->wanted;
  std::vector<Wanted> wanted = op == problem.op ? oracle_(problem, question.declared, roundings)
                                                : oracle_(forward_problem(problem), question.declared, roundings);
  answers_.push_back({std::move(question), std::move(wanted)});
  return answers_.back().wanted;
}

}  // namespace backgauge
