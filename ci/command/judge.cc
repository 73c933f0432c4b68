// SPDX-License-Identifier: Apache-2.0
// backgauge judge: judges the outputs that any program has written for cases.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/options/declaration.h"
#include "ci/run/judge/judged_folder.h"
#include "ci/run/outcome/summary.h"
#include "ci/run/plan/preflight.h"
#include "ci/run/process/in_parallel.h"
#include "ci/run/process/interrupt.h"
#include "ci/run/process/progress.h"
#include "ci/version.h"
#include "properties/case/files/npy.h"
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/record/junit.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;

struct JudgeArguments {
  std::string directory, cases, outputs, junit;
  DeclarationOptions declaration{};
  bool strict = false, json = false;
  int jobs = one_job_per_core();
};

struct CasePlace {
  fs::path folder, outputs;
};

// Each folder below `cases` that has a case.json, in the order of their names. Their outputs are in <outputs>/<name> or
// <outputs>/<name>.npz; without --outputs in outputs/ or outputs.npz of the folder itself.
std::vector<CasePlace> places_in(const JudgeArguments& options) {
  std::vector<CasePlace> out;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.cases, unreadable)) {
    if (!fs::exists(entry.path() / "case.json")) continue;
    const fs::path name = entry.path().filename();
    fs::path outputs = options.outputs.empty() ? entry.path() / "outputs" : fs::path(options.outputs) / name;
    if (!fs::is_directory(outputs)) outputs += ".npz";
    out.push_back({entry.path(), outputs});
  }
  if (unreadable) throw CommandError{kUsage, fmt::format("--cases={}: {}", options.cases, unreadable.message())};
  if (out.empty())
    throw CommandError{kUsage, fmt::format("--cases={}: no folder in it has a case.json", options.cases)};
  std::ranges::sort(out, {}, &CasePlace::folder);
  return out;
}

std::string repro_of(const CasePlace& place) {
  return fmt::format("backgauge judge --dir={} --outputs={}", shell_quoted(place.folder.string()),
                     shell_quoted(place.outputs.string()));
}

void print_one(const JudgedFolder& judged) {
  const Record& record = judged.record;
  fmt::print("{} {}\n{}", verdict_word(record.verdict.status), record.id, verdict_text(record.verdict));
  for (const TensorReport& tensor : record.verdict.tensors) fmt::print("  {}\n", tensor_line(tensor));
  if (!judged.remark.empty()) fmt::print("  {}\n", judged.remark);
}

void print_failure(const JudgedFolder& judged, const CasePlace& place) {
  const Record& record = judged.record;
  if (record.verdict.status == Status::kPassed || record.verdict.status == Status::kSkipped) return;
  fmt::print("{} {}\n{}  repro: {}\n", verdict_word(record.verdict.status), record.id, brief_text(record.verdict),
             repro_of(place));
}

void write_junit(const std::string& file, const std::vector<Record>& records) {
  const std::string text = junit(records, {.hostname = {}, .timestamp = {}, .properties = {{"version", kVersion}}});
  if (std::string why; !write_file(file, text, why)) throw CommandError{kSelfCheck, "--junit=" + why};
}

int judge_all_of(const JudgeArguments& options) {
  const Claims declared = options.declaration.claims();
  if (options.directory.empty() == options.cases.empty()) {
    throw CommandError{kUsage, "--dir, --cases: expected one of them"};
  }
  const bool one = !options.directory.empty();
  if (one && options.outputs.empty()) throw CommandError{kUsage, "--outputs: expected a folder or an .npz file"};
  if (!options.junit.empty()) require_writable("--junit", options.junit);
  const std::vector<CasePlace> places =
      one ? std::vector<CasePlace>{{options.directory, options.outputs}} : places_in(options);
  const InterruptGuard guard;
  std::vector<std::optional<JudgedFolder>> all(places.size());
  std::atomic<std::size_t> done{0};
  Progress progress(places.size());
  in_parallel(places.size(), options.jobs, [&](std::size_t k, std::size_t) {
    all[k] = judge_folder(places[k].folder, places[k].outputs, declared, one);
    progress.show_phase("judged", ++done, places.size());
  });
  progress.clear();
  if (interrupted()) return kInterrupted;
  Summary summary;
  std::vector<Record> records;
  nlohmann::ordered_json judged_places = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < places.size(); ++k) {
    const CasePlace& place = places[k];
    JudgedFolder& judged = *all[k];
    if (!options.json) one ? print_one(judged) : print_failure(judged, place);
    summary.add(judged.case_line, judged.record);
    auto shown = nlohmann::ordered_json::parse(to_json(judged.record));
    shown["folder"] = place.folder.string();
    judged_places.push_back(std::move(shown));
    records.push_back(std::move(judged.record));
  }
  if (options.json) {
    fmt::print("{}\n", judged_places.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (!one) {
    fmt::print("{}", summary.text({}));
  }
  if (!options.junit.empty()) write_junit(options.junit, records);
  return summary.exit_code(options.strict, true);
}

}  // namespace

void add_judge(CommandLine& line) {
  auto options = std::make_shared<JudgeArguments>();
  Subcommand command =
      line.subcommand("judge", "check outputs that another program computed for cases of `backgauge oracle`");
  command.option("--dir", options->directory, "folder written by `backgauge oracle`");
  command.option("--cases", options->cases, "folder of such folders, all of which are judged");
  command.option("--outputs", options->outputs,
                 "folder with a <tensor>.npy for each output, or one .npz file; with --cases a folder that has one of "
                 "these for each case, by its name (default: outputs/ or outputs.npz in the folder of the case)");
  add_declaration_options(command, options->declaration);
  add_jobs_option(command, options->jobs);
  command.flag("--json", options->json, "print the records as JSON instead of text");
  command.option("--junit", options->junit, "file for the results as JUnit XML");
  command.flag("--strict", options->strict, "exit with code 5 if a verdict is MISTRUSTED");
  command.footer(kVerdictHelp);
  command.action([options] { return judge_all_of(*options); });
}

}  // namespace backgauge::cli
