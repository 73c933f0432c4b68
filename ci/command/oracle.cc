// SPDX-License-Identifier: Apache-2.0
// backgauge oracle: writes a case with its expected outputs as files that any program can read.
#include "reference/oracle.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/preflight.h"
#include "properties/case/bundle.h"
#include "properties/judge/compare/expected_outputs.h"
#include "reference/profile.h"

namespace backgauge::cli {
namespace {

struct OracleArguments {
  std::string line, directory;
  bool profile = false;
};

void print_profile(const Problem& problem) {
  const ProductLimit limit = measured_product_limit();
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

int write_oracle(const OracleArguments& options) {
  if (options.directory.empty() && !options.profile) throw CommandError{kUsage, "--dir: expected a folder to write"};
  const Case c = parse_case_or_throw(options.line);
  require_makeable(c);
  Filled filled = fill(c);
  if (!filled.error.empty()) throw CommandError{kUsage, fmt::format("case \"{}\": {}", options.line, filled.error)};
  draw_dropout_masks(c, filled.problem);
  if (options.profile) print_profile(filled.problem);
  if (options.directory.empty()) return kGood;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Wanted> wanted = ExpectedOutputs(filled.facts).all(filled.problem, Declared{});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::string error;
  if (!write_bundle(options.directory, c, filled, wanted, error)) {
    throw CommandError{kUsage, "--dir: " + error};
  }
  fmt::print("{}: {} inputs, {} outputs with their allowed errors, computed in {:.2f} s\n", options.directory,
             filled.problem.inputs.size(), wanted.size(), took.count());
  return kGood;
}

}  // namespace

void add_oracle(CommandLine& line) {
  auto options = std::make_shared<OracleArguments>();
  Subcommand command =
      line.subcommand("oracle", "write the inputs, expected outputs and allowed errors of a case as .npy files");
  command.option("--case", options->line, "the case line").required();
  command.option("--dir", options->directory, "folder to write");
  command.flag("--profile", options->profile,
               "print time, GFLOP/s, share of the machine's limit, and memory of each evaluation");
  command.action([options] { return write_oracle(*options); });
}

}  // namespace backgauge::cli
