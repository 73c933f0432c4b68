// SPDX-License-Identifier: Apache-2.0
// backgauge verify: judges an implementation on golden vectors and the cases of a tier.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/explain/diagnosis.h"
#include "ci/run/judge/checks.h"
#include "ci/run/judge/judging.h"
#include "ci/run/judge/shrinking.h"
#include "ci/run/outcome/failures.h"
#include "ci/run/outcome/run_folder.h"
#include "ci/run/outcome/summary.h"
#include "ci/run/outcome/verification.h"
#include "ci/run/outcome/waivers.h"
#include "ci/run/plan/preflight.h"
#include "ci/run/plan/run_plan.h"
#include "ci/run/plan/shard.h"
#include "ci/run/process/crash_report.h"
#include "ci/run/process/interrupt.h"
#include "ci/run/process/progress.h"
#include "ci/version.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/compare/verdict_text.h"

namespace backgauge::cli {
namespace {

struct VerifyArguments {
  std::string impl = "cpu", ops, tier = "ci", out;
  std::vector<std::string> lines;
  std::uint64_t seed = 1;
  int workers = one_job_per_core();
  int threads = 1;
  std::size_t fail_fast = 0;  // 0: never
  int verbosity = 0;
  bool strict = false, resume = false, no_shrink = false;
  std::string shard, add_regression, waivers;
  std::chrono::seconds max_time{0};  // 0: none
  IsolationOptions isolation{};
};

RunPlan chosen_plan(const VerifyArguments& options) {
  return options.lines.empty() ? plan_of_tier(options.tier, options.seed, options.ops) : plan_of_lines(options.lines);
}

// Case lines given by the user are all judged here, even in one job of an array.
Shard shard_of(const VerifyArguments& options) {
  return options.lines.empty() || !options.shard.empty() ? chosen_shard(options.shard) : Shard{};
}

class VerifyRun {
 public:
  explicit VerifyRun(const VerifyArguments& options)
      : options_(options),
        candidate_(options.impl, options.isolation),
        plan_(chosen_plan(options)),
        shard_(shard_of(options)),
        waivers_(options.waivers, today()),
        folder_(options.out, head(), options.resume) {
    summary_.set_terms(terms_of(candidate_.table()));
    if (!options.add_regression.empty()) require_writable("--add-regression", options.add_regression);
    for (std::size_t index = 0; index < plan_.cases.size(); ++index) {
      if (!shard_.has(index)) continue;
      mine_.push_back(index);
      all_work_ += expected_work(plan_.cases[index]);
    }
  }

  int operator()() {
    print_heading();
    if (!candidate_.isolated()) install_crash_report();
    const InterruptGuard guard;
    {
      Progress progress(mine_.size());
      judge_producers(progress);
      for (const auto& [index, record] : folder_.kept()) take(index, record);
      progress.start_at(work_done_ / all_work_);
      judge_rest(progress);
    }
    explain_failures();
    if (is_tier() && complete()) {
      const CheckSettings settings{parse_ops(options_.ops), options_.seed, options_.threads};
      if (shard_.is_first()) {
        checks_.make(kCallsAtOnce, settings, summary_);
        checks_.make(kThreads, settings, summary_);
        checks_.make(kMemory, settings, summary_);
        // In one process that runs all configurations: further shards would find nothing more.
        if (options_.tier != tier_word(Tier::kSmoke)) checks_.make(kStateWalk, settings, summary_);
      }
      checks_.make(kDeterminism, settings, summary_);
      failed_checks_ = checks_.failed();
      waivers_.apply(failed_checks_);
      summary_.add_checks(failed_checks_);
    }
    const int verdict = exit_code();
    const bool written = finish_folder(verdict);
    print_conclusion();
    return written && kept_ ? verdict : static_cast<int>(kSelfCheck);
  }

 private:
  // The summary is printed even if files cannot be written at the end.
  bool finish_folder(int verdict) {
    if (options_.out.empty()) return true;
    const std::string impl_given = shell_quoted(options_.impl);
    const RunHead run = head();
    try {
      folder_.finish(taken_, shrunk_, failed_checks_, impl_given);
      folder_.write_pages(to_json(Verification{.head = run,
                                               .records = taken_,
                                               .shrunk = shrunk_,
                                               .checks = failed_checks_,
                                               .summary = summary_,
                                               .remarks = remarks(),
                                               .planned = mine_.size(),
                                               .exit_code = verdict,
                                               .impl_given = impl_given}));
      return true;
    } catch (const std::system_error& error) {
      fmt::print(stderr, "backgauge: --out={}: {}\n", options_.out, error.what());
      return false;
    }
  }

  bool is_tier() const { return options_.lines.empty(); }

  RunHead head() const {
    if (options_.out.empty()) return {};
    return head_of_this_run(candidate_.table(), options_.impl, options_.threads, shard_.text(), plan_.planned);
  }

  void print_heading() const {
    const std::string all = counted(plan_.cases.size(), "case");
    fmt::print("backgauge {}: {} (version {}{}), {}{}\n", kVersion, printable(candidate_.table().name, kShownOfName),
               printable(candidate_.table().version, kShownOfName), candidate_.isolated() ? ", isolated" : "",
               shard_.is_whole() ? all : fmt::format("{} of {}, shard {}", mine_.size(), all, shard_.text()),
               is_tier() ? fmt::format(", tier {}, seed {}", options_.tier, options_.seed) : std::string());
    if (options_.resume) fmt::print("resumed: {} judged before\n", counted(folder_.kept().size(), "case"));
    fmt::print("\n");
  }

  void judge_producers(Progress& progress) {
    for (const std::size_t index : mine_) {
      const Case& c = plan_.cases[index];
      if (c.data != DataProfile::kGolden || interrupted()) continue;
      const Record record = judge_golden_producer(c);
      summary_.add_producer(record);
      const Status status = record.verdict.status;
      // Of some vectors of half and bfloat16 the bounds prove too little: they are counted.
      const bool is_counted = status == Status::kPassed || status == Status::kMistrusted;
      if (is_counted && options_.verbosity == 0) continue;
      progress.clear();
      fmt::print("recorded golden {} {}\n{}", verdict_word(status), record.id, verdict_text(record.verdict));
    }
  }

  void take(std::size_t index, Record record) {
    waivers_.apply(record);
    summary_.add(plan_.cases[index], record);
    kinds_.add(index, record);
    taken_.emplace(index, std::move(record));
    work_done_ += expected_work(plan_.cases[index]);
  }

  void print_case(const Record& record) const {
    fmt::print("[{:>{}}/{}] {} {}\n{}", taken_.size(), std::to_string(mine_.size()).size(), mine_.size(),
               shown_word(record), record.id, verdict_text(record.verdict));
    fmt::print("  repro: backgauge repro '{}' --impl={}\n", record.id, shell_quoted(options_.impl));
  }

  bool complete() const { return taken_.size() == mine_.size(); }
  bool enough() const { return options_.fail_fast > 0 && summary_.failed() >= options_.fail_fast; }

  void judge_rest(Progress& progress) {
    std::vector<std::size_t> todo;
    std::vector<Case> cases;
    for (const std::size_t index : mine_) {
      if (taken_.contains(index) || enough()) continue;
      todo.push_back(index);
      cases.push_back(plan_.cases[index]);
    }
    JudgingOptions judging{.workers = options_.workers, .num_threads = options_.threads, .redraw = is_tier()};
    if (options_.max_time.count() > 0) judging.deadline = std::chrono::steady_clock::now() + options_.max_time;
    const auto placed = [&](std::size_t turn, Record record) {
      record.plan = plan_.at(todo[turn]);
      return record;
    };
    judging.ended = [&](std::size_t turn, const Record& record) { folder_.add(placed(turn, record)); };
    std::size_t turn = 0;
    judge_all(candidate_, cases, judging, [&](const Record& record) {
      take(todo[turn], placed(turn, record));
      if (options_.verbosity > 0) {
        progress.clear();
        print_case(taken_.at(todo[turn]));
      }
      progress.show(taken_.size(), summary_.failed(), work_done_ / all_work_, record.id);
      ++turn;
      return !enough();
    });
  }

  // Examines one failure of each kind, after all cases have ended, so that it runs alone.
  void explain_failures() {
    Progress progress(0);
    std::size_t looked_at = 0;
    const auto look = [&](const FailureKind& kind) {
      progress.show_phase("examining " + kind.text, ++looked_at, kinds_.in_order().size());
      ShownFailure shown = look_into(kind);
      progress.clear();
      return shown;
    };
    print_failures(kinds_, options_.verbosity > 0 ? kinds_.in_order().size() : kMostKindsShown, look,
                   shell_quoted(options_.impl));
    if (!options_.add_regression.empty()) kept_ = keep_regressions(options_.add_regression, to_keep_);
  }

  ShownFailure look_into(const FailureKind& kind) {
    Record& first = taken_.at(kind.index);
    if (kind.of_harness || interrupted()) return {first, ""};
    const Case c = parse_case_or_throw(first.id);
    ShownFailure shown{first, ""};
    if (!options_.no_shrink) {
      ShrunkFailure shrunk = shrink_failure(candidate_.runner(), c, first, options_.threads);
      if (shrunk.flaky) {
        first.flaky = true;
        return {first, "flaky: the first of these cases did not fail again when it ran alone"};
      }
      shown = {std::move(shrunk.record), std::move(shrunk.effort)};
    }
    // The original case has more values than the shrunk one, so an explanation is more reliable. But more is tried on a
    // small case.
    diagnose(candidate_.runner(), c, options_.threads, first.verdict);
    if (first.verdict.hint.empty() && shown.record.id != first.id) {
      diagnose(candidate_.runner(), parse_case_or_throw(shown.record.id), options_.threads, shown.record.verdict);
      first.verdict.hint = shown.record.verdict.hint;
    }
    shown.record.verdict.hint = first.verdict.hint;
    shown.record.verdict.passes_as = first.verdict.passes_as;
    if (!shown.record.shrunk_from.empty()) shrunk_.emplace(kind.index, shown.record);
    to_keep_.push_back(shown.record.id);
    return shown;
  }

  // With what a confined implementation loaded and was refused.
  std::vector<std::string> remarks() {
    std::vector<std::string> out = waivers_.remarks(complete() && is_tier() && shard_.is_whole());
    if (std::string conduct = candidate_.conduct(); !conduct.empty()) out.push_back(std::move(conduct));
    return out;
  }

  int exit_code() const {
    return interrupted() ? static_cast<int>(kInterrupted)
                         : summary_.exit_code(options_.strict, complete(), !shard_.is_whole());
  }

  void print_conclusion() {
    fmt::print("{}", summary_.text({.tier = is_tier(), .verbose = options_.verbosity > 0}));
    for (const std::string& remark : remarks()) fmt::print("{}\n", remark);
    if (interrupted()) {
      fmt::print("interrupted after {} of {} cases\n", taken_.size(), mine_.size());
      return;
    }
    const std::size_t missing = mine_.size() - taken_.size();
    if (missing > 0 && !enough())
      fmt::print("not run: {} of {} cases, because --max-time was reached\n", missing, mine_.size());
  }

  const VerifyArguments& options_;
  Candidate candidate_;
  const RunPlan plan_;
  const Shard shard_;
  Waivers waivers_;
  RunFolder folder_;
  std::vector<std::size_t> mine_;        // places in the plan
  double all_work_ = 0, work_done_ = 0;  // work of these cases, as by expected_work()
  RecordsByIndex taken_, shrunk_;
  Checks checks_{candidate_.runner()};
  std::vector<Record> failed_checks_;
  std::vector<std::string> to_keep_;  // one line for each kind of failure
  FailureKinds kinds_;
  bool kept_ = true;  // whether every regression could be added to the file
  Summary summary_;
};

}  // namespace

void add_verify(CommandLine& line) {
  auto options = std::make_shared<VerifyArguments>();
  Subcommand command = line.subcommand("verify", "check an implementation on recorded and generated cases");
  add_implementation_options(command, options->impl, options->threads, options->strict);
  add_isolation_options(command, options->isolation);
  command.option("--ops", options->ops, "comma-separated ops (default: all)").envname("BACKGAUGE_OPS");
  command.option("--tier", options->tier, "smoke (seconds), ci (a minute or two) or full (a night; see --max-time)")
      .value_name(kTierSet)
      .envname("BACKGAUGE_TIER");
  command.option("--seed", options->seed, "seed of the random choices in the tier")
      .check(whole_number())
      .envname("BACKGAUGE_SEED");
  command.option("--case", options->lines, "judge this case line instead of a tier; may be repeated").default_text("");
  command.option("--out", options->out, "folder for the page, the Markdown summary, records.jsonl and junit.xml")
      .envname("BACKGAUGE_OUT");
  command.flag("--resume", options->resume,
               "keep the results of this run that --out already holds, and judge the rest");
  command.option("--shard", options->shard, "i/n: judge part i of n (default: from the variables of the batch system)")
      .envname("BACKGAUGE_SHARD");
  add_duration(command, "--max-time", options->max_time, "start no case after this time: 90s, 5m, 2h")
      .envname("BACKGAUGE_MAX_TIME");
  command.flag("--no-shrink", options->no_shrink, "do not search for smaller cases that fail in the same way");
  add_regression_option(command, options->add_regression);
  add_jobs_option(command, options->workers);
  add_waivers_option(command, options->waivers);
  const auto take_failures = [options](const std::string& given) {
    options->fail_fast = given.empty() ? 1 : std::stoull(given);
  };
  command
      .option_for("--fail-fast", take_failures,
                  "stop after this many failures; --fail-fast alone stops after 1 (default: never stop)")
      .value_name("UINT")
      .optional_value()
      .check(whole_number_or_none());
  command.flag("-v,--verbose", options->verbosity,
               "print every case with its verdict, every kind of failure, and the cases per setting");
  command.footer(kVerdictHelp);
  command.action([options] {
    if (options->resume && options->out.empty())
      throw CommandError{kUsage, "--resume: expected --out=FOLDER too, the folder of the run to resume"};
    return VerifyRun(*options)();
  });
}

}  // namespace backgauge::cli
