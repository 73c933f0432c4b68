// SPDX-License-Identifier: Apache-2.0
// backgauge merge: merges the records of the parts of a run, and gives its verdict.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/outcome/failures.h"
#include "ci/run/outcome/run_folder.h"
#include "ci/run/outcome/summary.h"
#include "ci/run/outcome/verification.h"
#include "ci/run/outcome/waivers.h"
#include "ci/run/plan/shard.h"
#include "ci/version.h"
#include "properties/judge/compare/verdict_text.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;

struct MergeArguments {
  std::vector<std::string> parts;
  std::string out, waivers;
  bool partial = false, strict = false;
};

CommandError refused_part(const std::string& part, const std::string& why) {
  return {kUsage, fmt::format("{}: {}", part, why)};
}

class Merger {
 public:
  // `part`: a folder of --out, or a records.jsonl in any folder.
  void add(const std::string& part) {
    const bool is_folder = fs::is_directory(part);
    if (const auto head = is_folder ? read_head(part) : std::nullopt) {
      const std::string what = head_ ? difference_of_parts(*head, *head_) : "";
      if (!what.empty()) throw refused_part(part, "not a part of the same run: " + what + " in " + head_of_);
      head_ = head;
      head_of_ = part;
    }
    if (const fs::path file = fs::path(part) / "shrunk.jsonl"; is_folder && fs::exists(file)) {
      shrunk_.merge(read_records(file));
    }
    for (auto& [index, record] :
         read_records(is_folder ? fs::path(part) / "records.jsonl" : fs::path(part), &checks_)) {
      check_same_run(part, record);
      record.waived.reset();
      const auto [place, is_new] = records_.try_emplace(index, record);
      if (!is_new && !same_result(place->second, record)) throw refused_part(part, "disagrees on " + record.id);
    }
  }

  void apply(Waivers& waivers) {
    for (auto& [index, record] : records_) waivers.apply(record);
    waivers.apply(checks_);
  }

  const RecordsByIndex& records() const { return records_; }

  // The checks that failed in some part, each once.
  std::vector<Record> checks() const {
    std::vector<Record> out;
    for (const Record& check : checks_) {
      if (std::ranges::find(out, check.id, &Record::id) == out.end()) out.push_back(check);
    }
    return out;
  }

  FailureKinds kinds() const {
    FailureKinds kinds;
    for (const auto& [index, record] : records_) kinds.add(index, record);
    return kinds;
  }

  // The shrunk failures of the parts that a single run would have shrunk: the first of each kind.
  RecordsByIndex shrunk() const {
    const FailureKinds all = kinds();
    RecordsByIndex out;
    for (const FailureKind& kind : all.in_order()) {
      if (const auto found = shrunk_.find(kind.index); found != shrunk_.end()) out.insert(*found);
    }
    return out;
  }

  // On the terms of the parts, if they are not known.
  std::vector<std::string> remarks() const {
    if (head_) return {};
    return {"the terms of these verdicts are not known: no part has a run.json"};
  }

  const Record& first() const { return records_.begin()->second; }
  std::size_t planned() const { return static_cast<std::size_t>(first().plan->cases); }

  std::string gaps() const {
    constexpr std::size_t kNamed = 5;
    std::string text;
    std::size_t named = 0;
    for (std::size_t index = 0; index < planned() && named < kNamed; ++index) {
      if (records_.contains(index)) continue;
      text += fmt::format("{}{}", named++ == 0 ? "" : ", ", index);
    }
    const std::size_t missing = planned() - records_.size();
    return fmt::format("{} of {} cases missing: places {}{} of the plan", missing, planned(), text,
                       missing > named ? ", ..." : "");
  }

  RunHead head() const {
    RunHead head = head_.value_or(RunHead{});
    head.version = kVersion;
    head.shard = Shard{}.text();
    head.impl_name = first().impl_name;
    head.impl_version = first().impl_version;
    head.plan = *first().plan;
    return head;
  }

 private:
  void check_same_run(const std::string& part, const Record& record) const {
    if (records_.empty()) return;
    const Record& other = first();
    if (!record.plan->same_plan(*other.plan)) {
      throw refused_part(part,
                         fmt::format("has another plan: tier {}, seed {}, {} cases; the parts before it have tier {}, "
                                     "seed {}, {} cases",
                                     record.plan->tier, record.plan->seed, record.plan->cases, other.plan->tier,
                                     other.plan->seed, other.plan->cases));
    }
    if (record.impl_name != other.impl_name || record.impl_version != other.impl_version) {
      throw refused_part(part, fmt::format("judged another implementation: {} {}; the parts before it judged {} {}",
                                           record.impl_name, record.impl_version, other.impl_name, other.impl_version));
    }
  }

  std::optional<RunHead> head_;
  std::string head_of_;
  RecordsByIndex records_, shrunk_;
  std::vector<Record> checks_;
};

int merge(const MergeArguments& options) {
  Merger merger;
  for (const std::string& part : options.parts) merger.add(part);
  if (merger.records().empty()) throw CommandError{kUsage, "merge: no records in " + options.parts.front()};
  const bool complete = merger.records().size() == merger.planned();
  if (!complete && !options.partial)
    throw CommandError{kUsage, "merge: " + merger.gaps() + "; --partial merges anyway"};

  Waivers waivers(options.waivers, today());
  merger.apply(waivers);

  const Planned& plan = *merger.first().plan;
  fmt::print("backgauge {}: {} (version {}), {} from {}{}\n\n", kVersion, merger.first().impl_name,
             merger.first().impl_version, counted(merger.records().size(), "case"),
             counted(options.parts.size(), "part"),
             plan.tier.empty() ? "" : fmt::format(", tier {}, seed {}", plan.tier, plan.seed));
  const RunHead head = merger.head();
  Summary summary;
  summary.set_terms(head.terms);
  for (const auto& [index, record] : merger.records()) summary.add(parse_case_or_throw(record.id), record);
  summary.add_checks(merger.checks());
  const RecordsByIndex shrunk = merger.shrunk();
  const auto look = [&](const FailureKind& kind) -> ShownFailure {
    const auto found = shrunk.find(kind.index);
    return {found == shrunk.end() ? merger.records().at(kind.index) : found->second, ""};
  };
  print_failures(merger.kinds(), kMostKindsShown, look, "");
  for (const Record& check : merger.checks()) {
    fmt::print("{} {}\n{}", shown_word(check), check.id, verdict_text(check.verdict));
  }
  fmt::print("{}", summary.text({.tier = !plan.tier.empty()}));
  std::vector<std::string> remarks = waivers.remarks(complete);
  std::ranges::copy(merger.remarks(), std::back_inserter(remarks));
  for (const std::string& remark : remarks) fmt::print("{}\n", remark);
  if (!complete) fmt::print("{}\n", merger.gaps());
  const int verdict = summary.exit_code(options.strict, complete);
  const std::vector<Record> checks = merger.checks();
  RunFolder folder(options.out, head, false);
  folder.finish(merger.records(), shrunk, checks, "");
  folder.write_pages(to_json(Verification{.head = head,
                                          .records = merger.records(),
                                          .shrunk = shrunk,
                                          .checks = checks,
                                          .summary = summary,
                                          .remarks = remarks,
                                          .planned = merger.planned(),
                                          .exit_code = verdict,
                                          .impl_given = ""}));
  return verdict;
}

}  // namespace

void add_merge(CommandLine& line) {
  auto options = std::make_shared<MergeArguments>();
  Subcommand command = line.subcommand("merge", "merge the records of the shards of one run");
  command.option("parts", options->parts, "folders written by verify --out, or their records.jsonl files")
      .default_text("")
      .required();
  command.option("--out", options->out, "folder for the merged records.jsonl, junit.xml, page and Markdown summary")
      .required();
  add_waivers_option(command, options->waivers);
  command.flag("--partial", options->partial, "merge even if cases are missing");
  command.flag("--strict", options->strict, "exit with code 5 if a case is MISTRUSTED or was not run");
  command.footer(kVerdictHelp);
  command.action([options] { return merge(*options); });
}

}  // namespace backgauge::cli
