// SPDX-License-Identifier: Apache-2.0
// backgauge self: proves the checker. Wrong implementations must fail, correct ones must pass.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ci/command/subcommands.h"
#include "ci/conform/mustpass.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/proof/correct.h"
#include "ci/proof/correct_trial.h"
#include "ci/proof/list_strength.h"
#include "ci/proof/proof.h"
#include "ci/run/process/interrupt.h"
#include "ci/run/process/progress.h"
#include "ci/version.h"
#include "properties/campaign/measure/calibration.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/files/npy.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/saboteurs/variant.h"
#include "reference/contract/op_spec.h"
#include "reference/oracle.h"

namespace backgauge::cli {
namespace {

// Cases of each op. The full form has more than 10,000 runs of each with 35 implementations; the short one is a test.
constexpr std::size_t kFullCalibration = 400, kShortCalibration = 20;

constexpr std::size_t kOracleStep = 10;  // one in this many cases is evaluated again with more digits

struct SelfArguments {
  bool full = false, json = false, calibrate = false, correct = false;
  std::string ops, only, readme, mustpass;
  std::uint64_t seed = 1;
  int workers = one_job_per_core();
  CorrectTrialOptions trial{};
};

// Replaces the text between the two markers of a Markdown file: <!-- NAME: written by backgauge self HOW -->.
void replace_section(const std::filesystem::path& path, const std::string& name, const std::string& how,
                     const std::string& section) {
  const std::string begin_mark = fmt::format("<!-- {}: written by backgauge self {} -->\n", name, how),
                    end_mark = fmt::format("<!-- end of {} -->", name);
  std::string text, error;
  read_file(path, text, error);
  const std::size_t begin = text.find(begin_mark), end = text.find(end_mark);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    throw CommandError{kUsage, fmt::format("{}: expected the markers {}… {}", path.string(), begin_mark, end_mark)};
  }
  text.replace(begin + begin_mark.size(), end - begin - begin_mark.size(), section);
  if (!write_file(path, text, error)) throw CommandError{kUsage, error};
}

// The error of the oracle itself, on some cases.
struct OracleCheck {
  int cases = 0;
  double worst = 0;  // relative to the allowed error

  void add(const Case& c) {
    Filled filled = fill(c);
    if (!filled.error.empty() || filled.facts.nonfinite) return;
    draw_dropout_masks(c, filled.problem);
    worst = std::max(worst, oracle_error(filled.problem, ExpectedOutputs(filled.facts).gradient(filled.problem, {})));
    ++cases;
  }
};

// Tests the rounding model on all correct implementations: reference/arithmetic/bounds.md.
int calibrate(const SelfArguments& options) {
  std::vector<CalibrationSubject> subjects;
  for (const Correct& each : correct_implementations()) subjects.push_back({each.name, each.implementation});

  const InterruptGuard guard;
  Calibration calibration(std::move(subjects));
  OracleCheck check;
  {
    Progress progress(0);
    for (const backgauge_op op : parse_ops(options.ops)) {
      const std::vector<Case> cases = plan({.tier = Tier::kCi, .seed = options.seed, .ops = {op}});
      const std::size_t count =
          std::min<std::size_t>(options.full ? kFullCalibration : kShortCalibration, cases.size());
      for (std::size_t k = 0; k < count && !interrupted(); ++k) {
        calibration.add(cases[k]);
        if (k % kOracleStep == 0) check.add(cases[k]);
        progress.show_phase("calibration, " + std::string(find_op(op)->word), k + 1, count);
      }
    }
  }
  const std::vector<CalibrationRow> rows = calibration.rows();
  fmt::print("{}", calibration_table(rows));
  fmt::print("oracle: its own error is at most {:.2g} of the allowed error, in {} cases\n", check.worst, check.cases);
  for (const std::string& trouble : calibration.troubles()) fmt::print("{}\n", trouble);
  if (interrupted()) return kInterrupted;
  const bool acceptable = std::ranges::all_of(rows, &CalibrationRow::acceptable) && calibration.troubles().empty();
  return acceptable && check.worst <= kMostOracleError ? kGood : kSelfCheck;
}

void require_saboteurs(const SelfArguments& options) {
  const std::vector<backgauge_op> ops = parse_ops(options.ops);
  const auto chosen = [&](const saboteurs::Variant& variant) {
    return variant.kind != saboteurs::Kind::kCorrect && variant.id.starts_with(options.only) &&
           std::ranges::find(ops, variant.op) != ops.end();
  };
  if (std::ranges::none_of(saboteurs::variants(), chosen)) {
    throw CommandError{
        kUsage,
        fmt::format("--only={}: no saboteur has an id that starts with this; `backgauge self --json` lists the ids",
                    options.only)};
  }
}

// The other half of the proof: no correct implementation fails.
int try_correct_ones(const SelfArguments& options) {
  const InterruptGuard guard;
  CorrectTrialOptions asked = options.trial;
  asked.ops = options.ops;
  asked.workers = options.workers;
  CorrectTrial trial;
  {
    Progress progress(0);
    asked.progress = progress.phases();
    trial = try_correct(asked);
  }
  fmt::print("{}", options.json ? correct_json(trial) : correct_text(trial));
  if (trial.interrupted) return kInterrupted;
  if (!options.readme.empty()) {
    replace_section(options.readme, "correct", "--correct --readme", correct_markdown(trial));
  }
  return trial.holds() ? kGood : kSelfCheck;
}

// How strong the lists of `backgauge conform` are.
int try_mustpass_lists(const SelfArguments& options) {
  require_saboteurs(options);
  const InterruptGuard guard;
  const std::vector<backgauge_op> ops = parse_ops(options.ops);
  std::vector<CaseList> lists;
  for (const MustpassList& list : mustpass_lists(options.mustpass)) {
    if (std::ranges::find(ops, list.op) != ops.end()) lists.push_back({list.file, list.op, list.dtype, list.cases});
  }
  Progress progress(0);
  const std::vector<ListStrength> strength =
      strength_of(lists, {.workers = options.workers, .only = options.only, .progress = progress.phases()});
  progress.clear();
  fmt::print("{}", strength_text(strength));
  return interrupted() ? kInterrupted : kGood;
}

int self(const SelfArguments& options) {
  if (!options.mustpass.empty()) return try_mustpass_lists(options);
  if (options.calibrate) return calibrate(options);
  if (options.correct) return try_correct_ones(options);
  require_saboteurs(options);
  const InterruptGuard guard;
  if (!options.json)
    fmt::print("backgauge {}: proof, {} form, seed {}\n\n", kVersion, options.full ? "full" : "short", options.seed);
  Proof proof;
  {
    Progress progress(0);
    proof = prove({.full = options.full,
                   .seed = options.seed,
                   .workers = options.workers,
                   .ops = parse_ops(options.ops),
                   .only = options.only,
                   .progress = progress.phases()});
  }
  fmt::print("{}", options.json ? proof_json(proof) : proof_text(proof));
  if (proof.interrupted) return kInterrupted;
  if (!options.readme.empty()) replace_section(options.readme, "proof", "--full --readme", proof_markdown(proof));
  return proof.holds() ? kGood : kSelfCheck;
}

}  // namespace

void add_self(CommandLine& line) {
  auto options = std::make_shared<SelfArguments>();
  Subcommand command =
      line.subcommand("self", "test the checker: wrong implementations must fail, correct ones must pass");
  command.flag("--full", options->full,
               "run everything: also laws, scaled gradients and all correct implementations (minutes)");
  command.flag("--calibrate", options->calibrate,
               "instead: measure how much of the allowed error correct implementations use");
  const Option correct = command.flag("--correct", options->correct,
                                      "instead: judge correct implementations on whole tiers; none may fail");
  command.option("--impl", options->trial.implementations, "comma-separated implementations to judge (default: all)")
      .default_text("")
      .comma_separated()
      .needs(correct);
  command.option("--tier", options->trial.tier, std::string(kTierWords)).value_name(kTierSet).needs(correct);
  command.option("--seeds", options->trial.seeds, "comma-separated seeds of the tier")
      .comma_separated()
      .check(whole_number())
      .needs(correct);
  command.option("--cases", options->trial.cases, "number of cases per seed, spread evenly over the tier; 0: all")
      .check(whole_number())
      .needs(correct);
  command
      .option(
          "--mustpass", options->mustpass,
          "instead: count the saboteurs that fail each list of cases of `backgauge conform`; TEXT is its version: 1.0")
      .default_text("");
  command.flag("--json", options->json, "print the whole result as JSON");
  command.option("--ops", options->ops, "comma-separated ops (default: all)").envname("BACKGAUGE_OPS");
  command.option("--only", options->only, "only saboteurs whose id starts with this");
  command.option("--seed", options->seed, "seed of the tier").check(whole_number()).envname("BACKGAUGE_SEED");
  command.option("--readme", options->readme, "write the tables between the markers in this Markdown file");
  add_jobs_option(command, options->workers);
  command.footer(
      "A saboteur is an implementation that is wrong on purpose; `backgauge verify --impl=saboteur:ID` judges one.\n"
      "Exit codes: 0 every wrong implementation was caught, and no correct one was accused; 6 otherwise;\n"
      "2 wrong usage; 3 an implementation cannot be loaded; 130 interrupted.");
  command.action([options] { return self(*options); });
}

}  // namespace backgauge::cli
