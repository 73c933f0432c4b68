// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/conformance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "properties/judge/call/printable.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

void name(std::vector<NamedWaiver>& waivers, const Record& record) {
  const std::string kind = record.op + " " + failure_of(record.verdict);
  auto found = std::ranges::find_if(waivers, [&](const NamedWaiver& each) {
    return each.kind == kind && each.waived.reason == record.waived->reason && each.waived.url == record.waived->url &&
           each.waived.expires == record.waived->expires;
  });
  if (found == waivers.end()) found = waivers.insert(found, {kind, *record.waived, 0});
  ++found->lines;
}

// Whether the numbers of a record contradict its word PASSED.
bool contradicts_itself(const Record& record) {
  if (record.verdict.status != Status::kPassed) return false;
  const bool malformed = record.id.find(" data=malformed:") != std::string::npos;
  return record.verdict.tensors.empty() != malformed ||
         std::ranges::any_of(record.verdict.tensors, [](const TensorReport& tensor) {
           return tensor.bad > 0 || tensor.vacuous || !(tensor.max_ratio <= 1);
         });
}

std::string obstacle(const Record& record) {
  if (contradicts_itself(record)) return record.id + ": PASSED, and its numbers contradict that";
  const std::string kind = failure_of(record.verdict);
  return fmt::format("{}: {}: {}", verdict_word(record.verdict.status), record.id,
                     printable(kind.empty() ? record.verdict.reason : kind, kShownOfMessage));
}

// A waiver may mark only failures: on anything else, it would hide a record.
bool stands_in_the_way(const Record& record) {
  if (record.waived) return failure_of(record.verdict).empty();
  return record.verdict.status != Status::kPassed || contradicts_itself(record);
}

}  // namespace

bool Conformance::conforms() const {
  return !lists.empty() && obstacles.empty() && std::ranges::all_of(lists, &ListResult::conforms);
}

Conformance conformance_of(const std::vector<MustpassList>& lists, const std::vector<Record>& records) {
  Conformance out;
  std::map<std::string, const Record*> by_line;
  for (const Record& record : records) {
    if (!by_line.emplace(record.id, &record).second) out.obstacles.push_back("two records of " + record.id);
  }
  for (const MustpassList& list : lists) {
    ListResult result{.op = std::string(find_op(list.op)->word),
                      .dtype = std::string(dtype_word(list.dtype)),
                      .file = list.file,
                      .sha256 = list.sha256,
                      .lines = list.lines.size()};
    std::string first;
    for (const std::string& line : list.lines) {
      const auto found = by_line.find(line);
      if (found == by_line.end()) {
        ++result.missing;
        if (first.empty()) first = "missing: " + line;
        continue;
      }
      const Record& record = *found->second;
      result.counts.add(record);
      if (record.waived) name(out.waivers, record);
      if (first.empty() && stands_in_the_way(record)) first = obstacle(record);
      by_line.erase(found);
    }
    if (!first.empty()) out.obstacles.push_back(std::move(first));
    out.lists.push_back(std::move(result));
  }
  for (const auto& [line, record] : by_line) out.obstacles.push_back("a record of no line of the lists: " + line);
  return out;
}

Json to_json(const Conformance& conformance) {
  Json out{{"conforms", conformance.conforms()}, {"lists", Json::array()}, {"waivers", Json::array()}};
  for (const ListResult& list : conformance.lists) {
    out["lists"].push_back({{"op", list.op},
                            {"dtype", list.dtype},
                            {"file", list.file},
                            {"sha256", list.sha256},
                            {"conforms", list.conforms()},
                            {"lines", list.lines},
                            {"passed", list.counts[Status::kPassed]},
                            {"waived", list.counts.waived},
                            {"failed", list.counts[Status::kFailed]},
                            {"broken", list.counts[Status::kBroken]},
                            {"mistrusted", list.counts[Status::kMistrusted]},
                            {"skipped", list.counts[Status::kSkipped]},
                            {"missing", list.missing}});
  }
  for (const NamedWaiver& each : conformance.waivers) {
    out["waivers"].push_back({{"kind", each.kind},
                              {"lines", each.lines},
                              {"reason", each.waived.reason},
                              {"url", each.waived.url},
                              {"expires", each.waived.expires}});
  }
  out["verdict"] = verdict_of(conformance);
  return out;
}

std::string text_of(const ListResult& list) {
  const VerdictCounts& counts = list.counts;
  std::string out = fmt::format("{} {}: {} of {} passed", list.op, list.dtype, counts[Status::kPassed], list.lines);
  const std::pair<std::size_t, const char*> others[] = {{counts.waived, "waived"},
                                                        {counts[Status::kFailed], "failed"},
                                                        {counts[Status::kBroken], "broken"},
                                                        {counts[Status::kMistrusted], "mistrusted"},
                                                        {counts[Status::kSkipped], "skipped"},
                                                        {list.missing, "missing"}};
  for (const auto& [number, word] : others) {
    if (number > 0) out += fmt::format(", {} {}", number, word);
  }
  return out;
}

std::string verdict_of(const Conformance& conformance) {
  if (!conformance.conforms()) return "does not conform";
  return conformance.waivers.empty() ? "conforms" : "conforms, with waivers";
}

std::string scope_of(const Conformance& conformance) {
  std::vector<std::pair<std::string, std::string>> ops;  // and its dtypes
  for (const ListResult& list : conformance.lists) {
    if (ops.empty() || ops.back().first != list.op) {
      ops.emplace_back(list.op, list.dtype);
    } else {
      ops.back().second += " " + list.dtype;
    }
  }
  std::vector<std::string> words;
  for (const auto& [op, dtypes] : ops) {
    const auto spec = std::ranges::find(op_specs(), op, &OpSpec::word);
    words.push_back(fmt::format("{} {}", spec == op_specs().end() ? std::string_view(op) : spec->tensorflow, dtypes));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

Terms terms_about(const Terms& terms, const Conformance& conformance) {
  std::vector<std::string> ops;
  for (const ListResult& list : conformance.lists) ops.push_back(list.op);
  return terms_about(terms, ops);
}

std::string allowances(const Terms& terms, const Conformance& conformance) {
  Scope scope;
  for (const ListResult& list : conformance.lists) scope.emplace_back(list.op, list.dtype);
  return allowances(terms, scope);
}

}  // namespace backgauge::cli
