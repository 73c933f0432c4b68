// SPDX-License-Identifier: Apache-2.0
// backgauge oracle: writes a case with its right answers as files that any program can read.
// backgauge judge: judges the answers that any program has written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "ci/options/cli_options.h"
#include "ci/options/command.h"
#include "ci/options/declaration.h"
#include "ci/run/diagnosis.h"
#include "ci/run/preflight.h"
#include "ci/run/summary.h"
#include "properties/case/bundle.h"
#include "properties/judge/compare/judge_values.h"
#include "properties/judge/compare/verdict_text.h"
#include "reference/oracle.h"
#include "reference/profile.h"

namespace backgauge::cli {
namespace {

struct OracleOptions {
  std::string line, directory;
  bool profile = false;
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

void print_profile(const Problem& problem) {
  const ProductLimit limit = measured_product_limit();
  constexpr double kGiga = 1e9, kMega = 1e6;
  fmt::print("limit of a core, measured: {:.1f} GFLOP/s double, {:.1f} float\n\n", limit.double_flops / kGiga,
             limit.float_flops / kGiga);
  fmt::print("{:<10}{:>10}{:>10}{:>14}{:>14}{:>12}{:>10}{:>12}\n", "phase", "elapsed s", "CPU s", "GFLOP double",
             "GFLOP float", "GFLOP/s", "of limit", "peak MB");
  for (const Phase& phase : profile_oracle(problem, Declared{})) {
    const double flops = phase.double_flops + phase.float_flops;
    fmt::print("{:<10}{:>10.2f}{:>10.2f}{:>14.1f}{:>14.1f}{:>12.1f}{:>9.0f}%{:>12.0f}\n", phase.name, phase.elapsed,
               phase.cpu, phase.double_flops / kGiga, phase.float_flops / kGiga, flops / phase.cpu / kGiga,
               100 * share_of_limit(phase, limit), phase.peak_bytes / kMega);
  }
}

int write_oracle(const OracleOptions& options) {
  if (options.directory.empty() && !options.profile) throw CommandError{kUsage, "--dir: expected a folder to write"};
  const Case c = parse_case_or_throw(options.line);
  require_makeable(c);
  Filled filled = fill(c);
  if (!filled.error.empty()) throw CommandError{kUsage, fmt::format("case \"{}\": {}", options.line, filled.error)};
  draw_dropout_masks(c, filled.problem);
  if (options.profile) print_profile(filled.problem);
  if (options.directory.empty()) return kGood;
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
  fmt::print("{} {}\n{}", verdict_word(record.verdict.status), record.id, verdict_text(record.verdict));
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
  command->add_option("--dir", options->directory, "folder to write");
  command->add_flag("--profile", options->profile,
                    "print what each evaluation takes: time, GFLOP/s and share of the machine's limit, memory");
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
