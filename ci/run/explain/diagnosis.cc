// SPDX-License-Identifier: Apache-2.0
#include "ci/run/explain/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

// The values of a property that allow more than the claimed one, the least first. Enumerators are in that order.
std::vector<double> wider_values(const Property& property, const OpSpec& op, double claimed) {
  std::vector<double> out;
  if (property.kind == Property::Kind::kError) {
    for (int power = property.least_power; power <= property.greatest_power; ++power) {
      if (std::ldexp(1.0, power) > claimed) out.push_back(std::ldexp(1.0, power));
    }
  } else {
    for (double value = claimed + 1; property.allows(op, value); ++value) out.push_back(value);
  }
  return out;
}

// The first of the values that passes, or nullptr. Where a larger error passes if a smaller one does, half of the rest
// is ruled out by each try.
template <class Passes>
const double* first_passing(const Property& property, const std::vector<double>& values, Passes passes) {
  if (property.kind != Property::Kind::kError) {
    const auto first = std::ranges::find_if(values, passes);
    return first == values.end() ? nullptr : &*first;
  }
  if (values.empty() || !passes(values.back())) return nullptr;
  return &*std::ranges::partition_point(values, [&](double value) { return !passes(value); });
}

// How little the verdict's bounds allow: by how many bits the outputs are known, together.
double tightness(const Verdict& verdict) {
  double bits = 0;
  for (const TensorReport& tensor : verdict.tensors) {
    if (tensor.resolution > 0 && std::isfinite(tensor.resolution)) bits += std::log2(tensor.resolution);
  }
  return bits;
}

// With which other value of a property that changes where results are rounded the outputs pass, in words; "" if with
// none. Of several properties the one that has to allow the least: an approximate tanh would pass with TF32 as well.
std::string passes_as(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
                      const Claims& claims, HowToDeclare how) {
  const OpSpec& op = spec_of(problem.op);
  std::string text;
  double tightest = 0;
  for (const Property* property : properties_of(op)) {
    if (property->effect != Effect::kRounding || !property->matters_for(problem.dtype)) continue;
    const double claimed = property->get(claims, problem.dtype);
    const std::vector<double> values = wider_values(*property, op, claimed);
    const auto judged = [&](double each) {
      Claims other = claims;
      property->set(other, problem.dtype, each);
      return judge_outputs(expected, problem, given, declared(other, problem.dtype));
    };
    const double* const value =
        first_passing(*property, values, [&](double each) { return judged(each).status == Status::kPassed; });
    if (value == nullptr) continue;
    const double bits = tightness(judged(*value));
    if (!text.empty() && bits <= tightest) continue;
    tightest = bits;
    const std::string word = property->words_of(*value).front();
    text = fmt::format("FAILED with {} {}; passes with {} ({})", property->name, property->words_of(claimed).front(),
                       word, how(*property, word));
  }
  return text;
}

std::string claim_text(const Property& property, const std::string& word) {
  return fmt::format("claim {} {}", property.name, word);
}

}  // namespace

void diagnose(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
              const Claims& claims, HowToDeclare how, Verdict& verdict) {
  if (!is_of_values(verdict)) return;
  verdict.hint = hint_of(expected, problem, given, declared(claims, problem.dtype), *first_bad(verdict));
  verdict.passes_as = passes_as(expected, problem, given, claims, how);
}

void diagnose(Runner& runner, const Case& c, int num_threads, Verdict& verdict) {
  if (c.data == DataProfile::kMalformed || !is_of_values(verdict)) return;
  const Filled filled = fill(c);
  if (!filled.error.empty()) return;
  CaseSession session(runner, filled.problem, filled.facts);
  if (!session.claims() || session.draws_masks()) return;
  RunOptions options;
  options.num_threads = num_threads;
  const std::vector<GivenTensor> given = given_by(session, options);
  runner.end_case();
  ExpectedOutputs expected(filled.facts);
  diagnose(expected, filled.problem, given, *session.claims(), claim_text, verdict);
}

}  // namespace backgauge::cli
