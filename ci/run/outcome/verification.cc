// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/verification.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/outcome/failures.h"
#include "ci/run/outcome/verdict_matrix.h"
#include "perf/machine/machine.h"
#include "properties/judge/compare/verdict_text.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kVerificationSchema = "backgauge.verification/1";

struct Counts : VerdictCounts {
  std::size_t not_run = 0;
};

Counts counts_of(const Verification& run) {
  Counts counts;
  for (const auto& [index, record] : run.records) counts.add(record);
  counts.not_run = run.planned - std::min(run.planned, run.records.size());
  return counts;
}

// A kind of failure that a check found, or several cases.
struct Kind {
  std::string text;
  std::size_t cases;
  Record example;
};

std::vector<Kind> kinds_of(const Verification& run) {
  FailureKinds kinds;
  for (const auto& [index, record] : run.records) kinds.add(index, record);
  std::vector<Kind> out;
  for (const FailureKind& kind : kinds.in_order()) {
    const auto shrunk = run.shrunk.find(kind.index);
    out.push_back({kind.text, kind.cases, shrunk == run.shrunk.end() ? run.records.at(kind.index) : shrunk->second});
  }
  for (const Record& check : run.checks) {
    if (!check.waived) out.push_back({check.id, 1, check});
  }
  std::ranges::stable_sort(out, std::greater(), &Kind::cases);
  return out;
}

// A run of one shard has not passed, because the other shards may fail.
bool is_part(const RunHead& head) { return head.shard != Shard{}.text(); }

std::string word_of(const Verification& run, const Counts& counts) {
  switch (run.exit_code) {
    case kGood: return counts.not_run > 0 || is_part(run.head) ? "INCOMPLETE" : "PASSED";
    case kFailed: return "FAILED";
    case kInconclusive: return "INCONCLUSIVE";
    case kInterrupted: return "INTERRUPTED";
    default: return "BROKEN";
  }
}

// One sentence that says why.
std::string sentence(const Verification& run, const std::vector<Kind>& kinds, const Counts& counts) {
  std::string text;
  if (!kinds.empty()) {
    text = fmt::format("{} of {} failed, in {}; the most common: {}", counts.failed(),
                       counted(run.records.size(), "case"), counted(kinds.size(), "kind"), kinds.front().text);
  } else {
    text = fmt::format("{} passed", counted(counts[Status::kPassed], "case"));
  }
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  add(counts.waived, "waived");
  add(counts[Status::kMistrusted], "mistrusted");
  add(counts[Status::kSkipped], "skipped");
  add(counts.not_run, "not run");
  if (is_part(run.head))
    text += fmt::format("; this is shard {} of the run, and backgauge merge joins all", run.head.shard);
  return text + ".";
}

Json kind_json(const Kind& kind, const std::string& impl_given) {
  Record shown = kind.example;
  shown.impl_given = impl_given;
  return {{"kind", kind.text},
          {"cases", kind.cases},
          {"count", is_check(shown) ? "check" : counted(kind.cases, "case")},
          {"status", verdict_word(shown.verdict.status)},
          {"example", shown.id},
          {"shrunk_from", shown.shrunk_from},
          {"flaky", shown.flaky},
          {"text", brief_text(shown.verdict)},
          {"hint", shown.verdict.hint},
          {"repro", shown.repro()}};
}

// Records that are left out of the verdict, by their reason: the most frequent first.
template <class Wanted, class Reason>
Json by_reason(const Verification& run, Wanted wanted, Reason reason_of) {
  std::vector<Json> out;
  const auto add = [&](const Record& record) {
    if (!wanted(record)) return;
    const std::string reason = reason_of(record);
    const auto found = std::ranges::find_if(out, [&](const Json& each) { return each["reason"] == reason; });
    if (found == out.end()) {
      out.push_back({{"reason", reason}, {"cases", 1}, {"first", record.id}});
    } else {
      (*found)["cases"] = (*found)["cases"].template get<std::size_t>() + 1;
    }
  };
  for (const auto& [index, record] : run.records) add(record);
  for (const Record& check : run.checks) add(check);
  std::ranges::stable_sort(out, [](const Json& a, const Json& b) { return a["cases"] > b["cases"]; });
  return Json(std::move(out));
}

Json left_out(const Verification& run, Status status) {
  return by_reason(
      run, [status](const Record& record) { return !record.waived && record.verdict.status == status; },
      [](const Record& record) { return record.verdict.reason; });
}

Json waived(const Verification& run) {
  return by_reason(
      run, [](const Record& record) { return record.waived.has_value(); },
      [](const Record& record) {
        return fmt::format("{} {}: {} ({}), until {}", record.op, failure_of(record.verdict), record.waived->reason,
                           record.waived->url, record.waived->expires);
      });
}

Json run_json(const RunHead& head) {
  const Machine machine = this_machine();
  const Build build = this_build();
  return {{"implementation", head.impl_name},
          {"implementation_version", head.impl_version},
          {"library", head.library},
          {"backgauge", fmt::format("{} {}", head.version, build.commit)},
          {"command", head.command},
          {"tier", head.plan.tier},
          {"seed", head.plan.seed},
          {"cases", head.plan.cases},
          {"digest", head.plan.digest},
          {"threads", head.threads},
          {"shard", head.shard},
          {"machine", machine.cpu_model},
          {"isa", machine.isa},
          {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
}

Json determinism_json(const Summary& summary) {
  Json out = Json::array();
  for (const OpDeterminism& op : summary.determinism()) {
    out.push_back({{"op", find_op(op.op)->word},
                   {"measured", determinism_word(op.measured)},
                   {"claimed", backgauge::determinism_word(std::int32_t{op.claimed})},
                   {"overclaimed", op.overclaimed()},
                   {"cases", op.cases},
                   {"runs", op.runs},
                   {"difference", op.difference}});
  }
  return out;
}

Json coverage_json(const Verification& run) {
  Json out = Json::array();
  if (run.head.plan.tier.empty()) return out;
  for (const auto& [op, text] : run.summary.pairs()) out.push_back({{"op", op}, {"text", text}});
  return out;
}

}  // namespace

Json to_json(const Verification& run) {
  const Counts counts = counts_of(run);
  const std::vector<Kind> kinds = kinds_of(run);
  std::vector<JudgedCase> cases;
  for (const auto& [index, record] : run.records) cases.push_back({parse_case_or_throw(record.id), &record});
  Json out;
  out["schema"] = kVerificationSchema;
  out["verdict"] = {
      {"word", word_of(run, counts)}, {"exit_code", run.exit_code}, {"text", sentence(run, kinds, counts)}};
  out["run"] = run_json(run.head);
  out["terms"] = to_json(run.summary.terms());
  out["counts"]["planned"] = run.planned;
  out["counts"].update(to_json(counts));
  out["counts"]["not_run"] = counts.not_run;
  out["kinds"] = Json::array();
  for (const Kind& kind : kinds) out["kinds"].push_back(kind_json(kind, run.impl_given));
  out["waived"] = waived(run);
  out["remarks"] = run.remarks;
  out["overview"] = overview(cases);
  out["features"] = feature_matrix(cases);
  out["profiles"] = profile_matrix(cases);
  out["worst"] = worst_ratios(cases);
  out["coverage"] = coverage_json(run);
  out["determinism"] = determinism_json(run.summary);
  out["behaviour"] = run.summary.behaviour(true);
  out["skipped"] = left_out(run, Status::kSkipped);
  out["mistrusted"] = left_out(run, Status::kMistrusted);
  return out;
}

}  // namespace backgauge::cli
