// SPDX-License-Identifier: Apache-2.0
// backgauge oracle: writes a case with its right answers as files that any program can read.
// backgauge judge: judges the answers that any program has written.
#include <fmt/format.h>

#include <chrono>

#include "ci/command.h"
#include "ci/declaration.h"
#include "ci/diagnosis.h"
#include "ci/preflight.h"
#include "ci/summary.h"
#include "ci/words.h"
#include "properties/case/bundle.h"
#include "properties/judge/judge_values.h"
#include "properties/judge/report.h"
#include "reference/oracle.h"

namespace backgauge::cli {
namespace {

struct OracleOptions {
  std::string line, directory;
};
struct JudgeOptions {
  std::string directory, outputs;
  DeclarationOptions declaration{};
  bool strict = false;
};

backgauge_dtype dtype_of(NpyType type) {
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64}) {
    if (npy_type(dtype) == type) return dtype;
  }
  return BACKGAUGE_INT64;  // no output has it: the judge will say so
}

int write_oracle(const OracleOptions& options) {
  const Case c = parse_case_or_throw(options.line);
  require_makeable(c);
  Filled filled = fill(c);
  if (!filled.error.empty()) throw CommandError{kUsage, fmt::format("case \"{}\": {}", options.line, filled.error)};
  draw_dropout_masks(c, filled.problem);
  const auto asked = std::chrono::steady_clock::now();
  const std::vector<Wanted> wanted = everything_wanted(filled.problem, filled.facts, Declared{});
  const std::chrono::duration<double> answered = std::chrono::steady_clock::now() - asked;
  std::string error;
  if (!write_bundle(options.directory, c, filled, wanted, error)) {
    throw CommandError{kUsage, fmt::format("--dir={}: {}", options.directory, error)};
  }
  fmt::print("{}: {} inputs, {} outputs with their allowed errors, found in {:.2f} s\n", options.directory,
             filled.problem.inputs.size(), wanted.size(), answered.count());
  return kGood;
}

int judge_files(const JudgeOptions& options) {
  const Declared declared = options.declaration.declared();
  std::string error;
  Bundle bundle;
  if (!read_bundle(options.directory, bundle, error)) {
    throw CommandError{kUsage, "--dir: " + error};
  }
  if (const std::string why = lack_of_memory(bundle.case_line); !why.empty()) {
    throw CommandError{kUsage, fmt::format("--dir: case \"{}\": {}", to_string(bundle.case_line), why)};
  }
  const std::vector<OutputFile> files = read_outputs(options.outputs, error);
  if (!error.empty()) throw CommandError{kUsage, "--outputs: " + error};
  std::vector<GivenTensor> given;
  for (const OutputFile& file : files) {
    given.push_back({file.tensor.name, file.tensor.shape, dtype_of(file.type), file.tensor.values});
  }
  Record record;
  record.id = to_string(bundle.case_line);
  record.op = std::string(find_op(bundle.problem.op)->word);
  record.verdict = judge_outputs(bundle.problem, bundle.facts, given, declared);
  diagnose(bundle.problem, bundle.facts, given, declared, "--half-class={}", record.verdict);
  fmt::print("{} {}\n{}", status_word(record.verdict.status), record.id, verdict_text(record.verdict));
  for (const TensorReport& tensor : record.verdict.tensors) {
    fmt::print("  {}\n", tensor_line(tensor));
  }
  Summary summary;
  summary.add(bundle.case_line, record);
  return summary.exit_code(options.strict, true);
}

}  // namespace

void add_oracle(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<OracleOptions>();
  CLI::App* command = app.add_subcommand("oracle", "write a case, its right answers and allowed errors as .npy files");
  command->add_option("--case", options->line, "the case line")->required();
  command->add_option("--dir", options->directory, "folder to write")->required();
  command->callback([options, &chosen] { chosen = [options] { return write_oracle(*options); }; });
}

void add_judge(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<JudgeOptions>();
  CLI::App* command = app.add_subcommand("judge", "judge the outputs that any program wrote for such a folder");
  command->add_option("--dir", options->directory, "folder that `backgauge oracle` wrote")->required();
  command->add_option("--outputs", options->outputs, "folder of <tensor>.npy, or one .npz")->required();
  add_declaration_options(*command, options->declaration);
  command->add_flag("--strict", options->strict, "MISTRUSTED is exit code 5");
  command->callback([options, &chosen] { chosen = [options] { return judge_files(*options); }; });
}

}  // namespace backgauge::cli
