// SPDX-License-Identifier: Apache-2.0
// backgauge repro: judges one case line and prints its verdict in full.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/explain/diagnosis.h"
#include "ci/run/explain/wrong_element.h"
#include "ci/run/judge/checks.h"
#include "ci/run/judge/judging.h"
#include "ci/run/judge/shrinking.h"
#include "ci/run/outcome/summary.h"
#include "ci/run/plan/preflight.h"
#include "ci/run/process/crash_report.h"
#include "ci/run/process/interrupt.h"
#include "properties/campaign/calls/crowd.h"
#include "properties/campaign/shrink/shrink.h"
#include "properties/judge/compare/verdict_text.h"

namespace backgauge::cli {
namespace {

struct ReproArguments {
  std::string impl = "cpu", line;
  int threads = 1;
  bool strict = false, shrink = false, show = false;
  std::string add_regression;
  std::vector<std::string> concurrent;
  IsolationOptions isolation{};
};

// Returns false if the case cannot be added to the regressions.
bool print_smallest(Candidate& candidate, const ReproArguments& options, const Record& record) {
  std::string line = record.id;
  if (options.shrink && !failure_of(record.verdict).empty()) {
    const InterruptGuard guard;
    const ShrunkFailure shrunk =
        shrink_failure(candidate.runner(), parse_case_or_throw(record.id), record, options.threads);
    if (shrunk.flaky) {
      fmt::print("\nflaky: it did not fail again\n");
      return true;
    }
    line = shrunk.record.id;
    fmt::print("\n{}\n{}\n{}", shrunk.effort, line, verdict_text(shrunk.record.verdict));
  }
  return options.add_regression.empty() || keep_regressions(options.add_regression, {line});
}

// Runs the case and others concurrently, each in its own thread.
int repro_at_once(Candidate& candidate, const ReproArguments& options) {
  std::vector<Case> cases{parse_case_or_throw(options.line)};
  for (const std::string& line : options.concurrent) cases.push_back(parse_case_or_throw(line));
  for (const Case& c : cases) fmt::print("{}\n", to_string(c));
  const CrowdVerdict judged = judge_at_once(candidate.runner(), cases, options.threads);
  fmt::print("{} (version {}): {}, {} calls, {} of them overlapping\n{}", candidate.table().name,
             candidate.table().version, verdict_word(judged.verdict.status), judged.calls, judged.overlapped,
             verdict_text(judged.verdict));
  switch (judged.verdict.status) {
    case Status::kPassed: return kGood;
    case Status::kFailed:
    case Status::kBroken: return kFailed;
    default: return options.strict ? kInconclusive : kGood;
  }
}

void print_conduct(Candidate& candidate) {
  if (const std::string conduct = candidate.conduct(); !conduct.empty()) fmt::print("{}\n", conduct);
}

// "check: threads", or "check: determinism block_lstm_grad_v2" for one op.
int repro_check(Candidate& candidate, const ReproArguments& options) {
  const std::string given = options.line.substr(kCheckPrefix.size());
  constexpr std::array kChecks{kCallsAtOnce, kThreads, kMemory, kStateWalk, kDeterminism};
  const auto check = std::ranges::find_if(kChecks, [&](std::string_view name) {
    return given == name || (name == kDeterminism && given.starts_with(std::string(name) + " "));
  });
  if (check == kChecks.end()) {
    throw CommandError{kUsage, fmt::format("check: expected one of {}, got {}", fmt::join(kChecks, ", "), given)};
  }
  if (options.shrink || options.show || !options.add_regression.empty() || !options.concurrent.empty()) {
    throw CommandError{kUsage,
                       "a check of the implementation as a whole: expected none of --shrink, --show, "
                       "--concurrent and --add-regression, which are for a case line"};
  }
  const std::string op = given == *check ? "" : given.substr(check->size() + 1);
  if (!candidate.isolated()) install_crash_report();
  Summary summary;
  Checks checks(candidate.runner());
  checks.make(*check, {.ops = parse_ops(op), .num_threads = options.threads}, summary);
  const Record* const failed = checks.failed().empty() ? nullptr : &checks.failed().front();
  fmt::print("{}\n{} (version {}): {}\n", options.line, candidate.table().name, candidate.table().version,
             verdict_word(failed == nullptr ? Status::kPassed : failed->verdict.status));
  fmt::print("{}", failed == nullptr ? summary.behaviour(true) : verdict_text(failed->verdict));
  print_conduct(candidate);
  if (failed == nullptr) return kGood;
  return failed->verdict.status == Status::kFailed || !failure_of(failed->verdict).empty() ? kFailed : kSelfCheck;
}

int repro(const ReproArguments& options) {
  Candidate candidate(options.impl, options.isolation);
  if (options.line.starts_with(kCheckPrefix)) return repro_check(candidate, options);
  if (!options.concurrent.empty()) return repro_at_once(candidate, options);
  const Case c = parse_case_or_throw(options.line);
  require_makeable(c);
  if (!options.add_regression.empty()) require_writable("--add-regression", options.add_regression);
  fmt::print("{}\n", to_string(c));
  if (!candidate.isolated()) install_crash_report();
  Summary summary;
  Record record = judge_line(candidate.runner(), c, options.threads);
  diagnose(candidate.runner(), c, options.threads, record.verdict);
  summary.add(c, record);
  fmt::print("{} (version {}): {}\n{}", record.impl_name, record.impl_version, verdict_word(record.verdict.status),
             verdict_text(record.verdict));
  for (const TensorReport& tensor : record.verdict.tensors) {
    fmt::print("  {}\n", tensor_line(tensor));
  }
  if (options.show) fmt::print("{}", numbers_text(candidate.runner(), c, record.verdict, options.threads));
  const bool searches = summary.failed() > 0 && (options.shrink || !options.add_regression.empty());
  if (searches && !print_smallest(candidate, options, record)) return kSelfCheck;
  print_conduct(candidate);
  return summary.exit_code(options.strict, true);
}

}  // namespace

void add_repro(CommandLine& line) {
  auto options = std::make_shared<ReproArguments>();
  Subcommand command = line.subcommand("repro", "run one case line again and show its verdict in full");
  command.option("case", options->line, "the case line, in quotes; or a check of verify, such as 'check: threads'")
      .required();
  command.flag("--shrink", options->shrink, "search for a smaller case that fails in the same way");
  command.flag("--show", options->show,
               "print the values around the first wrong element, and the inputs that belong to it");
  command
      .option("--concurrent", options->concurrent,
              "another case line, called at the same time in its own thread; may be repeated")
      .default_text("");
  add_regression_option(command, options->add_regression);
  add_implementation_options(command, options->impl, options->threads, options->strict);
  add_isolation_options(command, options->isolation);
  command.footer(kCaseLineHelp + std::string("\n\n") + kVerdictHelp);
  command.action([options] { return repro(*options); });
}

}  // namespace backgauge::cli
