// SPDX-License-Identifier: Apache-2.0
// backgauge verify: judges an implementation on golden vectors and the cases of a tier.
// backgauge repro: the same for one case line, told in full.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ci/command.h"
#include "ci/interrupt.h"
#include "ci/judging.h"
#include "ci/last_words.h"
#include "ci/progress.h"
#include "ci/summary.h"
#include "ci/version.h"
#include "ci/words.h"
#include "properties/campaign/campaign.h"
#include "properties/case/golden.h"
#include "properties/judge/junit.h"
#include "properties/judge/report.h"

namespace backgauge::cli {
namespace {

struct Options {
  std::string impl = "cpu", ops, tier = "ci", out;
  std::vector<std::string> lines;
  std::uint64_t seed = 1;
  int workers = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
  int threads = 1;
  std::size_t fail_fast = 0;  // 0: never
  int verbosity = 0;
  bool strict = false;
};

std::vector<Case> golden_cases(const std::vector<backgauge_op>& ops) {
  std::string error;
  const std::filesystem::path directory = golden_directory(error);
  std::vector<Golden> goldens;
  if (error.empty()) goldens = list_goldens(directory, error);
  if (!error.empty()) throw CommandError{kSelfCheck, "golden vectors: " + error};
  std::vector<Case> out;
  for (const Golden& golden : goldens) {
    if (std::find(ops.begin(), ops.end(), golden.case_line.op) != ops.end()) out.push_back(golden.case_line);
  }
  return out;
}

std::vector<Case> chosen_cases(const Options& options) {
  if (!options.lines.empty()) {
    std::vector<Case> out;
    for (const std::string& line : options.lines) out.push_back(parse_case_or_throw(line));
    return out;
  }
  const std::optional<Tier> tier = parse_tier(options.tier);
  if (!tier) throw CommandError{kUsage, fmt::format("--tier={}: expected {}", options.tier, kTierWords)};
  const std::vector<backgauge_op> ops = parse_ops(options.ops);
  std::vector<Case> out = golden_cases(ops);
  for (Case& c : plan({.tier = *tier, .seed = options.seed, .ops = ops})) out.push_back(std::move(c));
  return out;
}

std::string shell_quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+") ==
      std::string::npos) {
    return word;
  }
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Where --out puts things: records as they come, junit.xml at the end.
class OutputFolder {
 public:
  OutputFolder(const std::string& directory, std::string impl) : directory_(directory), impl_(std::move(impl)) {
    if (directory.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) throw CommandError{kUsage, fmt::format("--out={}: {}", directory, error.message())};
    const std::filesystem::path records = directory_ / "records.jsonl";
    std::filesystem::remove(records, error);
    try {
      writer_.emplace(records.string());
    } catch (const std::exception& failure) {
      throw CommandError{kUsage, fmt::format("--out={}: {}", directory, failure.what())};
    }
  }
  void add(const Record& record) {
    if (!writer_) return;
    writer_->append(record);
    records_.push_back(record);
    records_.back().impl_given = impl_;
  }
  void finish() {
    if (!writer_) return;
    std::ofstream file(directory_ / "junit.xml");
    file << junit(records_);
    if (!file.flush()) throw CommandError{kSelfCheck, (directory_ / "junit.xml").string() + ": cannot be written"};
  }

 private:
  std::filesystem::path directory_;
  std::string impl_;  // for repro lines
  std::optional<RecordWriter> writer_;
  std::vector<Record> records_;
};

void print_case(const Record& record, const std::string& position, const std::string& impl) {
  fmt::print("{}{} {}\n{}", position, status_word(record.verdict.status), record.id, verdict_text(record.verdict));
  fmt::print("  repro: backgauge repro '{}' --impl={}\n", record.id, shell_quoted(impl));
}

bool deserves_a_word(const Record& record, int verbosity) {
  return verbosity > 0 || record.verdict.status == Status::kFailed || record.verdict.status == Status::kBroken ||
         record.verdict.status == Status::kMistrusted;
}

int verify(const Options& options) {
  const backgauge_implementation& implementation = load_implementation(options.impl);
  const std::vector<Case> cases = chosen_cases(options);
  OutputFolder folder(options.out, shell_quoted(options.impl));
  const bool tier = options.lines.empty();
  fmt::print("backgauge {}: {} {} on {} case{}{}\n\n", kVersion, implementation.name, implementation.version,
             cases.size(), cases.size() == 1 ? "" : "s",
             tier ? fmt::format(", tier {}, seed {}", options.tier, options.seed) : std::string());
  install_last_words();

  const InterruptGuard guard;
  Summary summary;
  {
    Progress progress(cases.size());
    for (const Case& c : cases) {
      if (c.data != DataClass::kGolden || interrupted()) continue;
      const Record record = judge_golden_producer(c);
      summary.add_producer(c, record);
      if (!deserves_a_word(record, options.verbosity)) continue;
      progress.clear();
      fmt::print("stored golden {} {}\n{}", status_word(record.verdict.status), record.id,
                 verdict_text(record.verdict));
    }
    std::size_t done = 0;
    const std::size_t digits = std::to_string(cases.size()).size();
    judge_all(implementation, cases, {.workers = options.workers, .num_threads = options.threads, .redraw = tier},
              [&](const Record& record, int redraws) {
                summary.add(cases[done], record, redraws);
                folder.add(record);
                ++done;
                if (deserves_a_word(record, options.verbosity)) {
                  progress.clear();
                  print_case(record, fmt::format("[{:>{}}/{}] ", done, digits, cases.size()), options.impl);
                }
                progress.show(done, summary.failed(), record.id);
                return options.fail_fast == 0 || summary.failed() < options.fail_fast;
              });
  }
  folder.finish();
  fmt::print("{}", summary.text(tier));
  if (interrupted()) {
    fmt::print("interrupted after {} of {} cases\n", summary.cases(), cases.size());
    return kInterrupted;
  }
  return summary.exit_code(options.strict);
}

int repro(const Options& options) {
  const backgauge_implementation& implementation = load_implementation(options.impl);
  const Case c = parse_case_or_throw(options.lines.front());
  fmt::print("{}\n", to_string(c));
  install_last_words();
  Summary summary;
  const Record record = judge_line(implementation, c, options.threads);
  summary.add(c, record, 0);
  fmt::print("{} {} {}\n{}", implementation.name, implementation.version, status_word(record.verdict.status),
             verdict_text(record.verdict));
  for (const TensorReport& tensor : record.verdict.tensors) {
    fmt::print("  {}\n", tensor_line(tensor));
  }
  return summary.exit_code(options.strict);
}

void add_common(CLI::App& command, Options& options) {
  command.add_option("--impl", options.impl, "cpu, plain, or the path of a shared library")->envname("BACKGAUGE_IMPL");
  command.add_option("--threads", options.threads, "threads the implementation may use")
      ->check(CLI::Range(1, 1024))
      ->envname("BACKGAUGE_THREADS");
  command.add_flag("--strict", options.strict, "MISTRUSTED, or nothing judged, is exit code 5");
}

}  // namespace

void add_verify(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "judge an implementation on golden vectors and the cases of a tier");
  add_common(*command, *options);
  command->add_option("--ops", options->ops, "ops, comma-separated (default: all)")->envname("BACKGAUGE_OPS");
  command->add_option("--tier", options->tier, "smoke (seconds), ci (a minute) or full (see --max-time)")
      ->envname("BACKGAUGE_TIER");
  command->add_option("--seed", options->seed, "seed of the tier's random choices")
      ->check(whole_number())
      ->envname("BACKGAUGE_SEED");
  command->add_option("--case", options->lines, "judge this case line instead of a tier; may be repeated")
      ->default_str("");
  command->add_option("--out", options->out, "folder for records.jsonl and junit.xml")->envname("BACKGAUGE_OUT");
  command->add_option("-j,--jobs", options->workers, "cases judged at once")
      ->check(CLI::Range(1, 1024))
      ->envname("BACKGAUGE_JOBS");
  command->add_option("--fail-fast", options->fail_fast, "stop after this many failures")
      ->expected(0, 1)
      ->check(whole_number())
      ->default_str("1");
  command->add_flag("-v,--verbose", options->verbosity, "every case with its verdict");
  command->callback([options, &chosen] { chosen = [options] { return verify(*options); }; });
}

void add_repro(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  options->lines.resize(1);
  CLI::App* command = app.add_subcommand("repro", "judge one case line and tell all about it");
  command->add_option("case", options->lines.front(), "the case line, in quotes")->required();
  add_common(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return repro(*options); }; });
}

}  // namespace backgauge::cli
