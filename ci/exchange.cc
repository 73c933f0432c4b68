// SPDX-License-Identifier: Apache-2.0
// backgauge oracle: writes a case with its right answers as files that any program can read.
// backgauge judge: judges the answers that any program has written.
#include <fmt/format.h>

#include <chrono>

#include "ci/command.h"
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
  std::string directory, outputs, half_class = "A", contract = "fp32_strict";
  bool recomputes_co = false, strict = false;
};

// What the program whose outputs are judged declares, as an implementation does in its table.
Declared declared(const JudgeOptions& options) {
  const std::int32_t half_class = enumerator_of(accuracy_class_word, options.half_class);
  if (half_class == 0) {
    throw CommandError{kUsage, fmt::format("--half-class={}: expected A, A' or B", options.half_class)};
  }
  const std::int32_t contract = enumerator_of(numerical_contract_word, options.contract);
  if (contract == 0) {
    throw CommandError{kUsage, fmt::format("--contract={}: expected fp32_strict, fp32_tf32, bf16_acc32, fp16_acc32 or "
                                           "fp32_3xtf32",
                                           options.contract)};
  }
  return {.half_class = static_cast<backgauge_accuracy_class>(half_class),
          .numerical_contract = static_cast<backgauge_numerical_contract>(contract),
          .recomputes_co = options.recomputes_co};
}

backgauge_dtype dtype_of(NpyType type) {
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64}) {
    if (npy_type(dtype) == type) return dtype;
  }
  return BACKGAUGE_INT64;  // no output has it: the judge will say so
}

// Everything the op gives; of CudnnRNNBackprop also what its forward gives.
std::vector<Wanted> everything_wanted(const Problem& problem, const DataFacts& facts, const Declared& declared) {
  const Values values = facts.structured || facts.nonfinite ? Values::kStructured : Values::kRandom;
  std::vector<Wanted> out;
  if (problem.op == BACKGAUGE_CUDNN_RNN_BACKPROP) out = oracle(forward_problem(problem), declared, values);
  for (Wanted& tensor : oracle(problem, declared, values)) out.push_back(std::move(tensor));
  return out;
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
  const Declared declaration = declared(options);
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
  record.verdict = judge_values(everything_wanted(bundle.problem, bundle.facts, declaration), given,
                                bundle.problem.dtype, declaration);
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
  command->add_option("--half-class", options->half_class, "accuracy class of half results: A, A' or B");
  command->add_option("--contract", options->contract, "numerical contract of matrix products");
  command->add_flag("--recomputes-co", options->recomputes_co, "the program takes tanh(cs) instead of the saved co");
  command->add_flag("--strict", options->strict, "MISTRUSTED is exit code 5");
  command->callback([options, &chosen] { chosen = [options] { return judge_files(*options); }; });
}

}  // namespace backgauge::cli
