// SPDX-License-Identifier: Apache-2.0
// backgauge museum: runs the cases that show errors which gradients of other projects really had.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/explain/diagnosis.h"
#include "ci/run/implementation/candidate.h"
#include "ci/run/judge/judging.h"
#include "ci/run/outcome/summary.h"
#include "ci/run/process/crash_report.h"
#include "ci/run/process/interrupt.h"
#include "properties/case/files/data_files.h"
#include "properties/case/line/case_list.h"
#include "properties/judge/call/printable.h"

namespace backgauge::cli {
namespace {

struct MuseumArguments {
  std::string impl = "cpu";
  int threads = 1;
  bool strict = false;
  IsolationOptions isolation{};
};

// One error, and the cases that show it.
struct Exhibit {
  std::string note;  // "tensorflow#34171: the peephole terms ..."
  std::vector<Case> cases;
};

std::vector<Exhibit> exhibits() {
  const std::vector<std::filesystem::path> places = data_places("museum.txt", "properties/cases/museum.txt");
  for (const std::filesystem::path& place : places) {
    if (!std::filesystem::exists(place)) continue;
    std::string error;
    std::vector<Exhibit> out;
    for (const ListedCase& listed : read_case_list(place, error)) {
      if (out.empty() || out.back().note != listed.note) out.push_back({listed.note, {}});
      out.back().cases.push_back(listed.c);
    }
    if (!error.empty()) throw CommandError{kUsage, error};
    return out;
  }
  throw CommandError{kUsage, "museum: no " + places_text(places)};
}

// The verdict that counts: one that failed, else one that was reached.
int weight(Status status) {
  switch (status) {
    case Status::kBroken:
    case Status::kFailed: return 3;
    case Status::kMistrusted: return 2;
    case Status::kPassed: return 1;
    case Status::kSkipped: return 0;
  }
  return 0;
}

int museum(const MuseumArguments& options) {
  const std::vector<Exhibit> all = exhibits();
  Candidate candidate(options.impl, options.isolation);
  if (!candidate.isolated()) install_crash_report();
  const InterruptGuard guard;
  Summary summary;
  std::size_t repeated = 0;
  for (const Exhibit& exhibit : all) {
    Record worst;
    worst.verdict.status = Status::kSkipped;
    for (const Case& c : exhibit.cases) {
      Record record = judge_line(candidate.runner(), c, options.threads);
      if (interrupted()) return kInterrupted;
      summary.add(c, record);
      if (worst.id.empty() || weight(record.verdict.status) > weight(worst.verdict.status)) {
        diagnose(candidate.runner(), c, options.threads, record.verdict);
        worst = std::move(record);
      }
    }
    fmt::print("{:<10} {}\n", verdict_word(worst.verdict.status), exhibit.note);
    if (worst.verdict.status == Status::kPassed) continue;
    fmt::print("           {}\n", printable(worst.verdict.reason, kShownOfReason));
    if (worst.verdict.status == Status::kSkipped) continue;
    repeated += weight(worst.verdict.status) == 3;
    if (!worst.verdict.hint.empty()) fmt::print("           hint: {}\n", worst.verdict.hint);
    fmt::print("           backgauge repro {} --impl={}\n", shell_quoted(worst.id), shell_quoted(options.impl));
  }
  fmt::print("\n{}: fails the cases of {} of {}\n", printable(candidate.table().name, kShownOfName), repeated,
             counted(all.size(), "known error"));
  return summary.exit_code(options.strict, true);
}

}  // namespace

void add_museum(CommandLine& line) {
  auto options = std::make_shared<MuseumArguments>();
  Subcommand command =
      line.subcommand("museum", "run the cases of errors that other libraries really had, with their sources");
  add_implementation_options(command, options->impl, options->threads, options->strict);
  add_isolation_options(command, options->isolation);
  command.footer(kVerdictHelp);
  command.action([options] { return museum(*options); });
}

}  // namespace backgauge::cli
