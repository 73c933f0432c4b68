// SPDX-License-Identifier: Apache-2.0
#include "ci/run/judge/shrinking.h"

#include <fmt/format.h>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/judge/judging.h"
#include "ci/run/process/interrupt.h"
#include "properties/campaign/shrink/shrink.h"
#include "properties/case/line/regressions.h"

namespace backgauge::cli {
namespace {

constexpr std::string_view kTimedOut = "BROKEN timeout";

}  // namespace

ShrunkFailure shrink_failure(Runner& runner, const Case& c, const Record& record, int num_threads) {
  const std::string failure = failure_of(record.verdict);
  if (failure == kTimedOut) return {record, false, "not shrunk: each run could take as long as --timeout"};
  runner.forget_timeouts();  // shrinking has its own time limit
  const auto judge = [&](const Case& candidate) { return judge_line(runner, candidate, num_threads).verdict; };
  const ShrunkFailure unknown{record, false, "not shrunk: interrupted"};
  const Shrunk shrunk = shrink(c, failure, judge, ShrinkLimits{}, interrupted);
  if (cut_short()) return unknown;
  ShrunkFailure out{record, shrunk.flaky,
                    fmt::format("shrunk in {} runs, {:.1f} s{}", shrunk.executions, shrunk.seconds,
                                shrunk.finished ? "" : ", stopped at the limit")};
  if (shrunk.flaky || shrunk.plainest == c) return out;
  Record plainest = judge_line(runner, shrunk.plainest, num_threads);
  if (cut_short()) return unknown;
  if (failure_of(plainest.verdict) != failure) {
    out.flaky = true;
    return out;
  }
  plainest.shrunk_from = record.id;
  plainest.plan = record.plan;
  out.record = std::move(plainest);
  return out;
}

bool keep_regressions(const std::string& file, const std::vector<std::string>& lines) {
  std::string error;
  for (const std::string& line : lines) {
    if (add_regression(file, line, error)) continue;
    fmt::print(stderr, "backgauge: --add-regression: {}\n", error);
    return false;
  }
  if (!lines.empty()) fmt::print("{} kept in {}\n", counted(lines.size(), "line"), file);
  return true;
}

}  // namespace backgauge::cli
