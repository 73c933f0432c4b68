// SPDX-License-Identifier: Apache-2.0
// backgauge judge: judges the outputs that any program has written for a case.
#include <fmt/format.h>

#include <memory>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/options/declaration.h"
#include "ci/run/diagnosis.h"
#include "ci/run/preflight.h"
#include "ci/run/summary.h"
#include "properties/case/bundle.h"
#include "properties/judge/compare/judge_values.h"
#include "properties/judge/compare/verdict_text.h"
#include "reference/contract/op_spec.h"
#include "reference/oracle.h"

namespace backgauge::cli {
namespace {

struct JudgeArguments {
  std::string directory, outputs;
  DeclarationOptions declaration{};
  bool strict = false;
};

int judge_files(const JudgeArguments& options) {
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
    given.push_back({file.tensor.name, file.tensor.shape, npy_dtype(file.type), file.tensor.values});
  }
  Record record;
  record.id = to_string(bundle.case_line);
  record.op = std::string(find_op(bundle.problem.op)->word);
  ExpectedOutputs expected(bundle.facts);
  record.verdict = judge_outputs(expected, bundle.problem, given, declared);
  diagnose(expected, bundle.problem, given, declared, "--half-class={}", record.verdict);
  fmt::print("{} {}\n{}", verdict_word(record.verdict.status), record.id, verdict_text(record.verdict));
  for (const TensorReport& tensor : record.verdict.tensors) {
    fmt::print("  {}\n", tensor_line(tensor));
  }
  Summary summary;
  summary.add(bundle.case_line, record);
  return summary.exit_code(options.strict, true);
}

}  // namespace

void add_judge(CommandLine& line) {
  auto options = std::make_shared<JudgeArguments>();
  Subcommand command =
      line.subcommand("judge", "check outputs that another program computed for a case of `backgauge oracle`");
  command.option("--dir", options->directory, "folder written by `backgauge oracle`").required();
  command.option("--outputs", options->outputs, "folder with a <tensor>.npy for each output, or one .npz file")
      .required();
  add_declaration_options(command, options->declaration);
  command.flag("--strict", options->strict, "exit with code 5 if the verdict is MISTRUSTED");
  command.action([options] { return judge_files(*options); });
}

}  // namespace backgauge::cli
