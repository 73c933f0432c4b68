// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/record/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "properties/case/line/case.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/compare/verdict_text.h"

namespace backgauge {
namespace {

// The most kinds of failure shown by one test. A faulty implementation has more, but other tests show those.
constexpr std::size_t kMostKinds = 5;
constexpr std::size_t kMostText = kMostKinds * kShownOfReason;

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name) = printable(value).c_str();
}

void add_property(pugi::xml_node properties, const char* name, const std::string& value) {
  pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", value);
}

std::string seconds(double ms) { return fmt::format("{:.6f}", ms / 1000); }

struct Test {
  std::vector<const Record*> records;

  std::size_t count(Status status) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        records, [status](const Record* r) { return r->verdict.status == status && !r->waived; }));
  }
  // The XML element with the result, or nullptr if the test passed.
  const char* outcome() const {
    if (count(Status::kFailed) > 0) return "failure";
    if (count(Status::kBroken) > 0) return "error";
    return count(Status::kPassed) < records.size() ? "skipped" : nullptr;
  }
  double ms() const {
    double sum = 0;
    for (const Record* record : records) sum += record->ms;
    return sum;
  }
};

struct Suite {
  std::string op;
  std::vector<std::pair<std::string, Test>> tests;  // in the order of their first records

  void add(const std::string& name, const Record& record) {
    auto test = std::ranges::find(tests, name, &std::pair<std::string, Test>::first);
    if (test == tests.end()) test = tests.insert(test, {name, {}});
    test->second.records.push_back(&record);
  }
};

std::string test_name(const Record& record) {
  std::string ignored;
  const std::optional<Case> c = parse_case(record.id, ignored);
  if (record.waived) return "waived: " + failure_of(record.verdict);
  if (!c) return record.id;
  if (record.verdict.status == Status::kSkipped) return "skipped: " + record.verdict.reason;
  if (record.verdict.status == Status::kMistrusted) return "mistrusted";
  return fmt::format("{} data={}", dtype_word(c->dtype), data_profile_word(c->data));
}

struct Totals {
  long long tests = 0, failures = 0, errors = 0, skipped = 0;
  double ms = 0;

  void add(const Test& test) {
    const std::string_view outcome = test.outcome() == nullptr ? "" : test.outcome();
    ++tests;
    failures += outcome == "failure" ? 1 : 0;
    errors += outcome == "error" ? 1 : 0;
    skipped += outcome == "skipped" ? 1 : 0;
    ms += test.ms();
  }
  void add(const Suite& suite) {
    for (const auto& [name, test] : suite.tests) add(test);
  }
  void write(pugi::xml_node node) const {
    node.append_attribute("tests") = tests;
    node.append_attribute("failures") = failures;
    node.append_attribute("errors") = errors;
    node.append_attribute("skipped") = skipped;
    set(node, "time", seconds(ms));
  }
};

std::string failure_text(const Record& record) {
  return fmt::format("{} {}\n{}  repro: {}\n", verdict_word(record.verdict.status), record.id,
                     brief_text(record.verdict), record.repro());
}

void write_failure(const Test& test, pugi::xml_node node) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  std::string text;
  for (const Record* record : test.records) {
    const std::string failure = failure_of(record->verdict);
    if (record->waived) continue;
    if (record->verdict.status != Status::kFailed && record->verdict.status != Status::kBroken) continue;
    auto kind = std::ranges::find(kinds, failure, &std::pair<std::string, std::size_t>::first);
    if (kind == kinds.end()) {
      kind = kinds.insert(kind, {failure, 0});
      if (kinds.size() <= kMostKinds) text += failure_text(*record);
    }
    ++kind->second;
  }
  const bool broken = test.count(Status::kFailed) == 0;
  std::string message =
      fmt::format("{} of {} cases:", test.count(Status::kFailed) + test.count(Status::kBroken), test.records.size());
  for (const auto& [failure, cases] : kinds) {
    message += fmt::format(" {} ({})", failure.empty() ? "not judged" : failure, cases);
  }
  if (kinds.size() > kMostKinds) text += fmt::format("{} more kinds of failure\n", kinds.size() - kMostKinds);
  set(node, "type", std::string(verdict_word(broken ? Status::kBroken : Status::kFailed)));
  set(node, "message", message);
  node.append_child(pugi::node_pcdata).set_value(printable(text, kMostText, Newlines::kKept).c_str());
}

void write_skipped(const Test& test, pugi::xml_node node) {
  const Record& first = *test.records.front();
  const std::string why =
      first.waived ? fmt::format("{}; {}, until {}", first.waived->reason, first.waived->url, first.waived->expires)
                   : first.verdict.reason;
  set(node, "type", std::string(shown_word(first)));
  set(node, "message",
      fmt::format("{} case{}, the first: {}: {}", test.records.size(), test.records.size() == 1 ? "" : "s", first.id,
                  why));
}

void write(const std::string& name, const Test& test, pugi::xml_node suite) {
  pugi::xml_node node = suite.append_child("testcase");
  const Record& first = *test.records.front();
  set(node, "classname", first.impl_name + "." + first.op);
  set(node, "name", name);
  set(node, "time", seconds(test.ms()));
  pugi::xml_node properties = node.append_child("properties");
  add_property(properties, "cases", std::to_string(test.records.size()));
  std::map<std::string, std::size_t> notes;
  for (const Record* record : test.records) {
    if (!record->verdict.note.empty()) ++notes[record->verdict.note];
  }
  if (!notes.empty()) {
    const std::string others = notes.size() > 1 ? fmt::format("; {} other notes", notes.size() - 1) : "";
    add_property(properties, "note", notes.begin()->first + others);
  }
  const char* outcome = test.outcome();
  if (outcome == nullptr) return;
  pugi::xml_node result = node.append_child(outcome);
  if (std::string_view(outcome) == "skipped") {
    write_skipped(test, result);
  } else {
    write_failure(test, result);
  }
}

}  // namespace

std::string junit(std::span<const Record> records, const JunitRun& run) {
  std::vector<Suite> suites;
  for (const Record& record : records) {
    auto suite = std::ranges::find(suites, record.op, &Suite::op);
    if (suite == suites.end()) suite = suites.insert(suite, {record.op, {}});
    suite->add(test_name(record), record);
  }
  Totals all;
  for (const Suite& suite : suites) all.add(suite);
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "backgauge");
  all.write(root);
  for (const Suite& suite : suites) {
    pugi::xml_node node = root.append_child("testsuite");
    set(node, "name", suite.op);
    Totals totals;
    totals.add(suite);
    totals.write(node);
    if (!run.timestamp.empty()) set(node, "timestamp", run.timestamp);
    if (!run.hostname.empty()) set(node, "hostname", run.hostname);
    pugi::xml_node properties = node.append_child("properties");
    for (const auto& [name, value] : run.properties) add_property(properties, name.c_str(), value);
    for (const auto& [name, test] : suite.tests) write(name, test, node);
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace backgauge
