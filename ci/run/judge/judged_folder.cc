// SPDX-License-Identifier: Apache-2.0
#include "ci/run/judge/judged_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "ci/options/command_error.h"
#include "ci/options/declaration.h"
#include "ci/run/explain/diagnosis.h"
#include "ci/run/explain/own_data.h"
#include "ci/run/outcome/run_head.h"
#include "ci/run/plan/preflight.h"
#include "ci/version.h"
#include "perf/machine/machine.h"
#include "properties/case/stored/bundle.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/judge_outputs.h"

namespace backgauge::cli {
namespace {

// Picks the outputs of the op from `all`.
std::vector<Wanted> of_op(const std::vector<Wanted>& all, backgauge_op op) {
  std::vector<Wanted> out;
  for (const TensorSpec& output : spec_of(op).outputs) {
    const auto found = std::ranges::find(all, output.name, &Wanted::name);
    if (found != all.end()) out.push_back(*found);
  }
  return out;
}

// The oracle, but for what is declared of the answer in the folder: ExpectedOutputs has chosen how its rounding errors
// are related, and would choose the same again.
ExpectedOutputs::Oracle oracle_with(const Bundle& bundle) {
  return [&bundle](const Problem& problem, const Declared& declared, RoundingErrors roundings) {
    const bool answered = !bundle.answer.empty() && declared == Declared{};
    return answered ? of_op(bundle.answer, problem.op) : oracle(problem, declared, roundings);
  };
}

std::string option_text(const Property& property, const std::string& word) {
  return property.kind == Property::Kind::kFlag ? option_of(property) : option_of(property) + "=" + word;
}

}  // namespace

std::string oracle_build() {
  const std::string commit = this_build().commit;
  return fmt::format("{} {}", kVersion, commit.ends_with("-dirty") ? digest_of_file("/proc/self/exe") : commit);
}

JudgedFolder judge_folder(const std::filesystem::path& folder, const std::filesystem::path& outputs,
                          const Claims& claims, bool only) {
  const auto start = std::chrono::steady_clock::now();
  const std::string option = only ? "--dir: " : "--cases: ";
  std::string error;
  Bundle bundle;
  if (!read_bundle(folder, bundle, error, oracle_build())) throw CommandError{kUsage, option + error};
  if (const std::string why = lack_of_memory(bundle.case_line); !why.empty()) {
    throw CommandError{kUsage, fmt::format("{}case \"{}\": {}", option, to_string(bundle.case_line), why)};
  }
  const std::vector<OutputFile> files = read_outputs(outputs, error);
  if (!error.empty() && only) throw CommandError{kUsage, "--outputs: " + error};
  std::vector<GivenTensor> given;
  for (const OutputFile& file : files) {
    given.push_back({file.tensor.name, file.tensor.shape, npy_dtype(file.type), file.tensor.values});
  }
  JudgedFolder out{bundle.case_line, {}, {}};
  out.record.id = to_string(bundle.case_line);
  out.record.op = std::string(find_op(bundle.problem.op)->word);
  out.record.impl_name = "files";
  ExpectedOutputs expected(bundle.facts, oracle_with(bundle));
  const Declared terms = declared(claims, bundle.problem.dtype);
  out.record.verdict = error.empty() ? judge_outputs(expected, bundle.problem, given, terms)
                                     : Verdict{Status::kFailed, "outputs: " + error, {}};
  diagnose(expected, bundle.problem, given, claims, option_text, out.record.verdict);
  if (bundle.case_line.data == DataProfile::kOwn) explain_own(expected, bundle.problem, terms, out.record.verdict);
  out.record.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!bundle.not_the_answer.empty())
    out.remark = bundle.not_the_answer + ", so the expected outputs were computed again";
  return out;
}

}  // namespace backgauge::cli
