// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/compare.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/runner/case_session.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

Claims claims_on(const backgauge_implementation& implementation, const Problem& problem) {
  std::optional<Claims> claims = claims_of(implementation, problem.op);
  for (const std::string& reason : {unclaimed(claims, problem, {}), why_masks_unavailable(implementation, problem)}) {
    if (!reason.empty()) throw Unclaimed(reason);
  }
  return *claims;
}

// Takes the answer as the exact result, except where any value is allowed.
void measure(Wanted& wanted, const Output& output, backgauge_dtype dtype) {
  const double largest = float_format(dtype).largest;
  for (std::size_t k = 0; k < wanted.value.size(); ++k) {
    const double exact = static_cast<double>(wanted.value[k]);
    double& allowed = wanted.allowed[k];
    if (!(std::fabs(exact) + allowed <= largest)) allowed = std::numeric_limits<double>::infinity();
    if (!std::isfinite(output.values[k]) && std::isfinite(allowed)) {
      throw std::runtime_error(wanted.name + index_text(wanted.shape, static_cast<std::int64_t>(k)) + " is not finite");
    }
    if (!std::isnan(exact)) wanted.value[k] = static_cast<long double>(output.values[k]);
  }
}

}  // namespace

Filled filled(const Case& c) {
  Filled result = fill(c);
  if (!result.error.empty()) throw std::runtime_error(result.error);
  return result;
}

Answer answer(const backgauge_implementation& implementation, const Problem& problem, const RunOptions& options) {
  claims_on(implementation, problem);
  InProcessRunner runner(implementation);
  CaseSession session(runner, problem);
  CaseOutputs made = session.run_all(options);
  if (made.failure) throw std::runtime_error(made.failure->reason);
  if (made.masks_unavailable) throw Unclaimed("masks are not available: " + *made.masks_unavailable);
  return {session.problem(), std::move(made.outputs)};
}

Declared declared_by(const backgauge_implementation& implementation, const Answer& answer) {
  return declared(claims_on(implementation, answer.problem), answer.problem.dtype);
}

std::vector<Wanted> with_bounds(const backgauge_implementation& implementation, const Answer& answer,
                                const DataFacts& facts) {
  std::vector<Wanted> out = ExpectedOutputs(facts).all(answer.problem, declared_by(implementation, answer));
  for (Wanted& wanted : out) {
    const auto output =
        std::ranges::find_if(answer.outputs, [&](const Output& each) { return each.raw.name == wanted.name; });
    if (output == answer.outputs.end()) throw std::runtime_error("no output " + wanted.name);
    measure(wanted, *output, answer.problem.dtype);
  }
  return out;
}

std::vector<Wanted> bounded_answer(const backgauge_implementation& implementation, const Problem& problem,
                                   const DataFacts& facts) {
  return with_bounds(implementation, answer(implementation, problem), facts);
}

std::vector<Wanted> exactly(const Answer& answer) {
  std::vector<Wanted> out;
  for (const Output& output : answer.outputs) {
    out.push_back({output.raw.name,
                   output.raw.shape,
                   {output.values.begin(), output.values.end()},
                   std::vector<double>(output.values.size())});
  }
  return out;
}

const Wanted& named(const std::vector<Wanted>& outputs, std::string_view name) {
  const auto found = std::ranges::find_if(outputs, [&](const Wanted& each) { return each.name == name; });
  if (found == outputs.end()) throw std::out_of_range("no output " + std::string(name));
  return *found;
}

}  // namespace backgauge
