// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/redraw.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "properties/case/draw/inputs.h"
#include "properties/case/draw/structures.h"
#include "properties/judge/compare/judge_outputs.h"

namespace backgauge::cli {
namespace {

Filled filled(const Case& c) {
  Filled out = fill(c);
  if (!out.error.empty()) throw std::runtime_error(to_string(c) + ": " + out.error);
  return out;
}

// Whether even correct outputs would be MISTRUSTED.
bool proves_nothing(const Case& c, const Filled& filled, const Declared& declared) {
  return verdict_on_correct_outputs(c, filled, declared).status == Status::kMistrusted;
}

// If every operation is rounded to u, the error of a sum of n terms with random signs is up to n u times the sum of
// their magnitudes, which is about sqrt(n) times the sum. n^1.5 u exceeds 1 from n = u^(-2/3) on: 161 terms in half and
// 40 in bfloat16.
bool has_long_sums(const Case& c) {
  const double most = std::pow(float_format(c.dtype).unit_roundoff, -2.0 / 3);
  return is_narrow(c.dtype) && static_cast<double>(std::max({4 * c.H, c.I + c.H, c.T * c.B})) > most;
}

}  // namespace

Verdict verdict_on_correct_outputs(const Case& c, Filled filled, const Declared& declared) {
  draw_dropout_masks(c, filled.problem);
  ExpectedOutputs expected(filled.facts);
  return verdict_on_correct_outputs(expected, expected.all(filled.problem, declared), filled.problem, declared);
}

Verdict verdict_on_correct_outputs(ExpectedOutputs& expected, const std::vector<Wanted>& correct,
                                   const Problem& problem, const Declared& declared) {
  std::vector<GivenTensor> right;
  for (const Wanted& tensor : correct) {
    right.push_back({tensor.name, tensor.shape, problem.dtype, {tensor.value.begin(), tensor.value.end()}});
  }
  return judge_outputs(expected, problem, right, declared);
}

bool may_be_redrawn(const Case& c) {
  return c.data != DataProfile::kGolden && c.data != DataProfile::kMalformed && !c.checksum;
}

Case redrawn(Case c, int redraws) {
  if (redraws > kMostRedrawsOfClass) c.data = has_long_sums(c) ? DataProfile::kSparse : DataProfile::kStratified;
  c.seed = seed_of_same_structure(c, (c.seed * 0x9e3779b97f4a7c15u + 1) >> 32);
  return c;
}

Case judged_in_place_of(Case planned, const Declared& declared, int most_redraws) {
  Filled inputs = filled(planned);
  const bool again = may_be_redrawn(planned);
  for (int redraws = 1; again && redraws <= most_redraws && proves_nothing(planned, inputs, declared); ++redraws) {
    planned = redrawn(planned, redraws);
    inputs = filled(planned);
  }
  planned.checksum = inputs.checksum;
  return planned;
}

}  // namespace backgauge::cli
