// SPDX-License-Identifier: Apache-2.0
#include "ci/python/drawn_case.h"

#include <nanobind/stl/string.h>

#include <stdexcept>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/python/arrays.h"
#include "ci/python/words.h"
#include "ci/run/plan/own_problem.h"
#include "ci/run/plan/preflight.h"
#include "ci/run/plan/redraw.h"
#include "ci/run/plan/refuse.h"
#include "ci/run/plan/run_plan.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "reference/contract/storage.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

// Runs `body`, and turns an error of the command line into an exception that Python knows.
template <class Body>
auto without_command_errors(Body body) {
  try {
    return body();
  } catch (const cli::CommandError& error) {
    throw std::invalid_argument(error.text);
  }
}

Case makeable(const std::string& line) {
  return without_command_errors([&] {
    const Case c = cli::parse_case_or_throw(line);
    if (c.data == DataProfile::kMalformed) cli::refuse("case \"{}\": a malformed call has no inputs to show", line);
    cli::require_makeable(c);
    return c;
  });
}

// What of a case its line says, without values.
Problem described(const Case& c) { return {c.op, c.dtype, attributes_of(c), extents_of(c), {}, {}}; }

Filled drawn(const Case& c) {
  Filled filled = fill(c);
  if (!filled.error.empty()) cli::refuse("{}", filled.error);
  draw_dropout_masks(c, filled.problem);
  return filled;
}

// Why correct outputs would not be PASSED; "" if they would. As in assert_conforms, those of the forward are not given.
std::string unproved(const std::vector<Wanted>& wanted, ExpectedOutputs& expected, const Problem& problem,
                     const Declared& declared) {
  const Verdict verdict = cli::verdict_on_correct_outputs(expected, wanted, problem, declared);
  if (verdict.status == Status::kPassed) return "";
  return std::string(verdict_word(verdict.status)) + ": " + verdict.reason;
}

}  // namespace

std::vector<std::string> planned_lines(const std::string& op, const std::string& tier, std::uint64_t seed,
                                       const nb::dict& words) {
  const OpSpec& spec = cli::gradient_named(op);
  const Claims claims = claims_in_words("cases: ", spec, words);
  const cli::RunPlan plan = without_command_errors([&] { return cli::plan_of_tier(tier, seed, op); });
  std::vector<std::string> out;
  for (const Case& c : plan.cases) {
    if (c.data != DataProfile::kMalformed && unclaimed(claims, described(c), {}).empty()) out.push_back(to_string(c));
  }
  return out;
}

DrawnCase::DrawnCase(const std::string& line, const nb::dict& words, bool redraw)
    : case_(makeable(line)), claims_(claims_in_words("case: ", spec_of(case_.op), words)), expected_(DataFacts{}) {
  const nb::gil_scoped_release released;
  if (redraw) case_ = cli::judged_in_place_of(case_, declared());
  filled_ = drawn(case_);
  expected_ = ExpectedOutputs(filled_.facts);
  Case with_checksum = case_;
  with_checksum.checksum = filled_.checksum;
  line_ = to_string(with_checksum);
  skip_reason_ = unclaimed(claims_, filled_.problem, filled_.facts);
  if (redraw && skip_reason_.empty()) skip_reason_ = unproved(wanted(), expected_, filled_.problem, declared());
}

std::string DrawnCase::op() const { return std::string(spec_of(case_.op).tensorflow); }
std::string DrawnCase::dtype() const { return std::string(dtype_word(case_.dtype)); }

nb::dict DrawnCase::inputs() const {
  nb::dict out;
  for (const TensorSpec& tensor : spec_of(case_.op).inputs) {
    const Tensor* values = filled_.problem.find(tensor.name);
    if (values == nullptr) continue;
    out[values->name.c_str()] = owned_array(*values, tensor.is_int64 ? BACKGAUGE_INT64 : case_.dtype);
  }
  return out;
}

nb::dict DrawnCase::attributes() const { return attributes_in_words(case_.op, filled_.problem.attributes); }

nb::object DrawnCase::dropout_keep() const { return masks_of(filled_.problem); }

nb::dict DrawnCase::forward() {
  nb::dict out;
  if (!traits_of(case_.op).forward) return out;
  const auto forward = [&]() -> const auto& { return expected_.forward(filled_.problem, declared()); };
  for (const Wanted& each : without_gil(forward)) {
    out[each.name.c_str()] = owned_array({each.name, each.shape, {each.value.begin(), each.value.end()}}, case_.dtype);
  }
  return out;
}

const std::vector<Wanted>& DrawnCase::wanted() { return expected_.gradient(filled_.problem, declared()); }

nb::list DrawnCase::oracle() {
  return listed(without_gil([&]() -> const auto& { return wanted(); }));
}

nb::tuple DrawnCase::judge(const nb::dict& outputs) {
  return verdict_on(arrays_of(outputs), expected_, filled_.problem, claims_, Inputs::kGenerated);
}

}  // namespace backgauge::python
