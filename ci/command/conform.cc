// SPDX-License-Identifier: Apache-2.0
// backgauge conform: judges an implementation on lists of cases that never change, and packs the proof; checks such a
// package.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "ci/command/subcommands.h"
#include "ci/conform/mustpass_choice.h"
#include "ci/conform/package.h"
#include "ci/conform/sha256.h"
#include "ci/conform/signature.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/judge/judging.h"
#include "ci/run/outcome/waivers.h"
#include "ci/run/plan/run_plan.h"
#include "ci/run/process/crash_report.h"
#include "ci/run/process/in_parallel.h"
#include "ci/run/process/interrupt.h"
#include "ci/run/process/progress.h"
#include "ci/version.h"
#include "perf/machine/machine.h"
#include "properties/case/files/npy.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/compare/claims.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ConformArguments {
  std::string impl, ops, mustpass{mustpass_releases().back().version}, out, check, draft, waivers;
  std::vector<std::string> dtypes;
  int workers = one_job_per_core();
  int threads = 1;
  std::uint64_t sample = 50, sample_seed = 0;  // 0: a random one
  Signer signer{};
  IsolationOptions isolation{};
};

// SHA-256 of the shared library or Python file; "" for a name, whose implementation comes with backgauge.
std::string library_digest(const std::string& impl) {
  std::error_code none;
  return fs::is_regular_file(impl, none) ? sha256_of_file(impl) : "";
}

bool is_claimed(const backgauge_implementation& implementation, const MustpassList& list) {
  const std::optional<Claims> claims = claims_of(implementation, list.op);
  return claims && claims->takes(list.dtype);
}

// The lists for --ops and --dtypes; without --ops, for the ops that are claimed, and without --dtypes, for their
// dtypes.
std::vector<MustpassList> chosen_lists(const ConformArguments& options, const backgauge_implementation& table) {
  for (const std::string& word : options.dtypes) {
    if (std::ranges::none_of(kFloatDtypes, [&](backgauge_dtype dtype) { return dtype_word(dtype) == word; })) {
      throw CommandError{kUsage, fmt::format("--dtypes={}: expected some of f16, bf16, f32, f64", word)};
    }
  }
  const std::vector<backgauge_op> ops = parse_ops(options.ops);
  std::vector<MustpassList> lists = mustpass_lists(options.mustpass);
  std::erase_if(lists, [&](const MustpassList& list) {
    if (std::ranges::find(ops, list.op) == ops.end()) return true;
    if (options.ops.empty() && !claims_of(table, list.op)) return true;
    if (options.dtypes.empty()) return !is_claimed(table, list);
    return std::ranges::find(options.dtypes, dtype_word(list.dtype)) == options.dtypes.end();
  });
  if (lists.empty()) {
    throw CommandError{kUsage, fmt::format("conform: {} claims none of the ops and dtypes; `backgauge list` shows them",
                                           printable(table.name, kShownOfName))};
  }
  return lists;
}

std::vector<Record> judged(Candidate& candidate, const std::vector<std::string>& lines,
                           const ConformArguments& options) {
  const RunPlan plan = plan_of_lines(lines);
  if (!candidate.isolated()) install_crash_report();
  const InterruptGuard guard;
  Progress progress(lines.size());
  std::vector<Record> out;
  std::size_t failed = 0;
  judge_all(candidate, plan.cases, {.workers = options.workers, .num_threads = options.threads},
            [&](const Record& record) {
              out.push_back(record);
              out.back().plan = plan.at(out.size() - 1);
              failed += record.verdict.status != Status::kPassed;
              const auto share = static_cast<double>(out.size()) / static_cast<double>(lines.size());
              progress.show(out.size(), failed, share, record.id);
              return true;
            });
  progress.clear();
  return out;
}

Json description_of(const ConformArguments& options, const Candidate& candidate) {
  const Machine machine = this_machine();
  const Build build = this_build();
  utsname system{};
  uname(&system);
  return {{"implementation",
           {{"name", printable(candidate.table().name, kShownOfName)},
            {"version", printable(candidate.table().version, kShownOfName)},
            {"library", library_digest(options.impl)}}},
          {"backgauge",
           {{"version", kVersion},
            {"commit", build.commit},
            {"compiler", build.compiler},
            {"program", sha256_of_file("/proc/self/exe")}}},
          {"environment",
           {{"cpu", machine.cpu_model},
            {"isa", machine.isa},
            {"cores", machine.cores},
            {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
            {"threads", options.threads},
            {"isolated", candidate.isolated()}}},
          {"judged", today()}};
}

// "mine 1.2 conforms to backgauge 1.0 with accuracy class B: LSTMBlockCellGrad f16", and the terms.
std::string conclusion(const std::string& implementation, const Conformance& conformance, const std::string& mustpass,
                       const Terms& terms) {
  const std::string allowed = allowances(terms, conformance);
  return fmt::format("{} {} to backgauge {}{}: {}\n{}", implementation, verdict_of(conformance), mustpass,
                     allowed.empty() ? "" : " with " + allowed, scope_of(conformance),
                     terms_lines(terms_about(terms, conformance)));
}

void print_result(const Conformance& conformance) {
  for (const ListResult& list : conformance.lists) fmt::print("{}\n", text_of(list));
  for (const NamedWaiver& each : conformance.waivers) {
    fmt::print("WAIVED {} until {}: {}: {} ({})\n", counted(each.lines, "line"), printable(each.waived.expires),
               printable(each.kind), printable(each.waived.reason), printable(each.waived.url));
  }
  for (const std::string& obstacle : conformance.obstacles) fmt::print("{}\n", printable(obstacle));
}

int exit_code_of(const Conformance& conformance) {
  if (conformance.conforms()) return kGood;
  const auto failed = [](const ListResult& list) { return list.counts.failed() > 0; };
  return std::ranges::any_of(conformance.lists, failed) ? kFailed : kInconclusive;
}

int conform(const ConformArguments& options) {
  Candidate candidate(options.impl, options.isolation);
  Waivers waivers(options.waivers, today());
  PackageParts parts;
  parts.terms = terms_of(candidate.table());
  parts.mustpass = options.mustpass;
  parts.lists = chosen_lists(options, candidate.table());
  parts.description = description_of(options, candidate);
  if (!options.waivers.empty()) {
    std::string error;
    if (!read_file(options.waivers, parts.waivers, error)) throw CommandError{kUsage, error};
  }
  std::vector<std::string> lines;
  for (const MustpassList& list : parts.lists) lines.insert(lines.end(), list.lines.begin(), list.lines.end());
  if (!options.out.empty()) require_new_folder(options.out);
  parts.records = judged(candidate, lines, options);
  const std::string conduct = candidate.conduct();
  parts.description["environment"]["conduct"] = conduct;
  waivers.apply(parts.records);
  const Conformance conformance = conformance_of(parts.lists, parts.records);
  print_result(conformance);
  if (!conduct.empty()) fmt::print("{}\n", conduct);
  for (const std::string& remark : waivers.remarks(true)) fmt::print("{}\n", remark);
  if (interrupted()) return kInterrupted;
  const std::string implementation = fmt::format("{} {}", printable(candidate.table().name, kShownOfName),
                                                 printable(candidate.table().version, kShownOfName));
  fmt::print("\n{}", conclusion(implementation, conformance, options.mustpass, parts.terms));
  if (!options.out.empty()) write_package(options.out, package_of(parts));
  const bool harness = std::ranges::any_of(
      parts.records, [](const Record& record) { return record.verdict.reason.starts_with("harness"); });
  return harness ? static_cast<int>(kSelfCheck) : exit_code_of(conformance);
}

// Judges random lines of the package again. Returns what contradicts it.
std::vector<std::string> contradictions(const ConformArguments& options, const PackageCheck& check) {
  Candidate candidate(options.impl, options.isolation);
  const Json& said = check.description.at("implementation");
  if (said.at("name") != printable(candidate.table().name, kShownOfName) ||
      said.at("version") != printable(candidate.table().version, kShownOfName)) {
    return {fmt::format("--impl={}: {} {}, and the package is of {} {}", options.impl, candidate.table().name,
                        candidate.table().version, said.at("name").get<std::string>(),
                        said.at("version").get<std::string>())};
  }
  if (said.at("library") != library_digest(options.impl)) {
    return {fmt::format("--impl={}: SHA-256 {}, and the package is of {}", options.impl, library_digest(options.impl),
                        said.at("library").get<std::string>())};
  }
  if (const std::string what = difference(check.terms, terms_about(terms_of(candidate.table()), check.conformance));
      !what.empty()) {
    return {fmt::format("--impl={}: other terms than those of the package: {}", options.impl, what)};
  }
  const std::uint64_t seed = options.sample_seed == 0 ? std::random_device{}() : options.sample_seed;
  std::vector<const Record*> sample;
  std::vector<const Record*> all;
  for (const Record& record : check.records) all.push_back(&record);
  std::ranges::sample(all, std::back_inserter(sample), static_cast<std::ptrdiff_t>(options.sample),
                      std::mt19937_64(seed));
  std::vector<std::string> lines, out;
  for (const Record* record : sample) lines.push_back(record->id);
  const std::vector<Record> again = judged(candidate, lines, options);
  for (std::size_t k = 0; k < again.size(); ++k) {
    const Verdict &now = again[k].verdict, &then = sample[k]->verdict;
    if (now.status == then.status && failure_of(now) == failure_of(then)) continue;
    out.push_back(fmt::format("{}: {} in the package, now {} {}", again[k].id, verdict_word(then.status),
                              verdict_word(now.status), printable(now.reason, kShownOfMessage)));
  }
  if (again.size() < lines.size()) out.push_back("interrupted");
  fmt::print("judged again: {} of {} (--sample-seed={})\n", again.size(), counted(all.size(), "line"), seed);
  return out;
}

int check_of(const ConformArguments& options) {
  const PackageFiles files = read_package(options.check);
  PackageCheck check = check_package(files, today());
  const SignatureCheck signature = check_signature(options.check, files, options.signer);
  if (!signature.fault.empty()) check.faults.push_back(signature.fault);
  if (check.faults.empty() && !options.impl.empty()) check.faults = contradictions(options, check);
  for (const std::string& fault : check.faults) fmt::print("{}\n", printable(fault));
  if (!check.faults.empty()) {
    fmt::print("\n{}: REFUSED, {}\n", options.check, counted(check.faults.size(), "fault"));
    return kFailed;
  }
  print_result(check.conformance);
  for (const std::string& remark : check.remarks) fmt::print("{}\n", printable(remark));
  // A package of somebody else says what it likes.
  const Json& judged = check.description.at("implementation");
  const auto shown = [](const Json& word) { return printable(word.get<std::string>(), kShownOfName); };
  fmt::print("{}\n\n{}: intact; {}", printable(signature.remark, kShownOfReason, Newlines::kKept), options.check,
             conclusion(shown(judged.at("name")) + " " + shown(judged.at("version")), check.conformance,
                        shown(check.description.at("mustpass").at("version")), check.terms));
  return exit_code_of(check.conformance);
}

// The lists of a new version, with their SHA256SUMS.
int draft(const ConformArguments& options) {
  struct Place {
    backgauge_op op;
    backgauge_dtype dtype;
    MustpassDraft draft;
  };
  std::vector<Place> places;
  for (const backgauge_op op : parse_ops(options.ops)) {
    for (const backgauge_dtype dtype : kFloatDtypes) {
      if ((find_op(op)->dtypes & BACKGAUGE_BIT(dtype)) != 0) places.push_back({op, dtype, {}});
    }
  }
  require_new_folder(options.draft);
  in_parallel(places.size(), options.workers, [&](std::size_t turn, std::size_t) {
    places[turn].draft = draft_mustpass_list(places[turn].op, places[turn].dtype, options.mustpass);
  });
  std::map<std::string, std::string> files;
  for (const Place& place : places) {
    const std::string name = mustpass_file_name(place.op, place.dtype);
    files[name] = place.draft.text;
    fmt::print("{:<28} {:>4} cases, {} malformed calls; {} of {} pairs of settings, sizes and profiles of the tier\n",
               name, place.draft.lines, place.draft.malformed, place.draft.covered, place.draft.wanted);
  }
  std::string sums;
  for (const auto& [name, text] : files) sums += checksum_line(sha256(text), name);
  files["SHA256SUMS"] = sums;
  write_package(options.draft, files);
  fmt::print("digest of the version: {}\n", sha256(sums));
  return kGood;
}

int run(const ConformArguments& options) {
  const int tasks = (options.check.empty() ? 0 : 1) + (options.draft.empty() ? 0 : 1) + (options.out.empty() ? 0 : 1);
  if (tasks > 1) throw CommandError{kUsage, "--out, --check, --draft: expected one of them"};
  if (!options.draft.empty()) return draft(options);
  if (!options.check.empty()) return check_of(options);
  if (options.impl.empty()) throw CommandError{kUsage, "--impl: expected an implementation"};
  return conform(options);
}

}  // namespace

void add_conform(CommandLine& line) {
  auto options = std::make_shared<ConformArguments>();
  Subcommand command =
      line.subcommand("conform", "prove conformance on lists of cases that never change, or check a proof");
  add_implementation_options(command, options->impl, options->threads);
  add_isolation_options(command, options->isolation);
  command.option("--ops", options->ops, "comma-separated ops (default: all that are claimed)").envname("BACKGAUGE_OPS");
  command
      .option("--dtypes", options->dtypes,
              "comma-separated dtypes: f16, bf16, f32, f64 (default: all that are claimed)")
      .comma_separated()
      .default_text("");
  command.option("--mustpass", options->mustpass, "version of the lists");
  command.option("--out", options->out, "new folder for the package: records, environment, hashes, certificate, badge")
      .envname("BACKGAUGE_OUT");
  add_waivers_option(command, options->waivers);
  command.option("--check", options->check, "check this package instead; with --impl judge a random sample again");
  command.option("--sample", options->sample, "number of lines that --check judges again").check(whole_number());
  command.option("--sample-seed", options->sample_seed, "chooses these lines (default: random)")
      .check(whole_number())
      .default_text("");
  Option signers = command.option("--signers", options->signer.file,
                                  "with --check: file of allowed signers, one of whom must have signed the package");
  Option signer = command.option("--signer", options->signer.identity, "the identity in that file");
  signers.needs(signer);
  signer.needs(signers);
  command.option("--draft", options->draft, "write the lists of a new version to this new folder instead");
  add_jobs_option(command, options->workers);
  command.footer(
      "A certificate and a badge are written if every line of every list passed. With a waiver they say so.\n"
      "Exit codes: 0 conforms; 1 does not, or the package was edited; 2 wrong usage; 3 the implementation cannot be\n"
      "loaded; 5 a line is MISTRUSTED or SKIPPED; 6 the checker or the machine failed; 130 interrupted.");
  command.action([options] { return run(*options); });
}

}  // namespace backgauge::cli
