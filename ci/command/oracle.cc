// SPDX-License-Identifier: Apache-2.0
// backgauge oracle: writes a case with its expected outputs as files that any program can read.
#include "reference/oracle.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/explain/own_data.h"
#include "ci/run/judge/judged_folder.h"
#include "ci/run/plan/own_problem.h"
#include "ci/run/plan/preflight.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/stored/bundle.h"
#include "properties/judge/compare/expected_outputs.h"
#include "reference/profile.h"

namespace backgauge::cli {
namespace {

struct OracleArguments {
  std::string line, inputs, op, attributes, directory;
  bool profile = false, independent_roundings = false;
};

void print_profile(const Problem& problem) {
  const ProductWork limit = measured_product_limit();
  constexpr double kGiga = 1e9, kMega = 1e6;
  fmt::print("measured limit of one core: {:.1f} GFLOP/s in double, {:.1f} in float\n\n", limit.double_flops / kGiga,
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

struct Drawn {
  Case line;
  Filled filled;
};

Drawn drawn(const std::string& line) {
  const Case c = parse_case_or_throw(line);
  require_makeable(c);
  Filled filled = fill(c);
  if (!filled.error.empty()) throw CommandError{kUsage, fmt::format("case \"{}\": {}", line, filled.error)};
  draw_dropout_masks(c, filled.problem);
  return {c, std::move(filled)};
}

Drawn read_inputs(const OracleArguments& options) {
  if (options.op.empty()) throw CommandError{kUsage, "--inputs: expected --op too, the op that reads them"};
  std::string error;
  const std::vector<OutputFile> files = read_outputs(options.inputs, error);
  if (!error.empty()) throw CommandError{kUsage, "--inputs: " + error};
  try {
    Filled filled = own_problem(problem_of_files(files, options.op, options.attributes, options.independent_roundings));
    const Case line = line_of(filled);
    if (const std::string why = lack_of_memory(line); !why.empty()) throw std::invalid_argument(why);
    return {line, std::move(filled)};
  } catch (const std::invalid_argument& wrong) {
    throw CommandError{kUsage, "--inputs: " + std::string(wrong.what())};
  }
}

// A user's own files are never written.
Present present_in(const std::string& directory, const OracleArguments& options) {
  std::error_code none;
  return std::filesystem::equivalent(directory, options.inputs, none) ? Present::kKeep : Present::kOverwrite;
}

// Next to inputs that are in a folder, if no folder is named.
std::string directory_of(const OracleArguments& options) {
  const bool next_to_them =
      options.directory.empty() && !options.profile && std::filesystem::is_directory(options.inputs);
  return next_to_them ? options.inputs : options.directory;
}

int write_oracle(const OracleArguments& options) {
  const std::string directory = directory_of(options);
  if (directory.empty() && !options.profile) throw CommandError{kUsage, "--dir: expected a folder to write"};
  const auto [c, filled] = options.inputs.empty() ? drawn(options.line) : read_inputs(options);
  if (options.profile) print_profile(filled.problem);
  if (directory.empty()) return kGood;
  const auto begin = std::chrono::steady_clock::now();
  ExpectedOutputs expected(filled.facts);
  const std::vector<Wanted> wanted = expected.all(filled.problem, Declared{});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::string error;
  if (!write_bundle(directory, c, filled, wanted, error, oracle_build(), present_in(directory, options))) {
    throw CommandError{kUsage, "--dir: " + error};
  }
  fmt::print("{}: {} inputs, {} outputs with their allowed errors, computed in {:.2f} s\n", directory,
             filled.problem.inputs.size(), wanted.size(), took.count());
  const std::string warning = unproven(expected, filled.problem, wanted, Declared{}, c.data == DataProfile::kOwn);
  if (!warning.empty()) fmt::print("warning: {}\n", warning);
  return kGood;
}

}  // namespace

void add_oracle(CommandLine& line) {
  auto options = std::make_shared<OracleArguments>();
  Subcommand command =
      line.subcommand("oracle", "write the inputs, expected outputs and allowed errors of a case as .npy files");
  command.option("--case", options->line, "the case line");
  command.option(
      "--inputs", options->inputs,
      "inputs of your own instead: a folder with a <tensor>.npy for each, and dropout_mask_<gap>.npy, or one "
      ".npz file");
  command.option("--op", options->op, "with --inputs: the op");
  command.option("--attributes", options->attributes,
                 "with --inputs: its attributes, such as rnn_mode=gru,dropout=0.5 (default: TensorFlow's)");
  command.flag("--independent-roundings", options->independent_roundings,
               "with --inputs: rounding errors are independent, as of random numbers, which allows less (default: "
               "where the rigorous bound proves nothing, the values are tested for it)");
  command.option("--dir", options->directory, "folder to write (default: that of --inputs)");
  command.flag("--profile", options->profile,
               "print time, GFLOP/s, share of the machine's limit, and memory of each evaluation");
  command.footer(kCaseLineHelp);
  command.action([options, command] {
    if (command.was_given("--case") == command.was_given("--inputs")) {
      throw CommandError{kUsage, "--case, --inputs: expected one of them"};
    }
    return write_oracle(*options);
  });
}

}  // namespace backgauge::cli
