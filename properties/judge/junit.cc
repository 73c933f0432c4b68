// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "properties/judge/printable.h"
#include "properties/judge/report.h"

namespace backgauge {
namespace {

// The element that says how a case ended, or nullptr for one that passed.
const char* outcome(Status status) {
  switch (status) {
    case Status::kPassed: return nullptr;
    case Status::kFailed: return "failure";
    case Status::kBroken: return "error";
    case Status::kSkipped:
    case Status::kMistrusted: return "skipped";
  }
  return "error";
}

std::string seconds(double ms) { return fmt::format("{:.6f}", ms / 1000); }

struct Totals {
  std::int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double ms = 0;

  void add(const Record& record) {
    const Status status = record.verdict.status;
    ++tests;
    failures += status == Status::kFailed ? 1 : 0;
    errors += status == Status::kBroken ? 1 : 0;
    skipped += status == Status::kSkipped || status == Status::kMistrusted ? 1 : 0;
    ms += record.ms;
  }

  void write(pugi::xml_node node) const {
    node.append_attribute("tests") = static_cast<long long>(tests);
    node.append_attribute("failures") = static_cast<long long>(failures);
    node.append_attribute("errors") = static_cast<long long>(errors);
    node.append_attribute("skipped") = static_cast<long long>(skipped);
    node.append_attribute("time") = seconds(ms).c_str();
  }
};

void write_case(const Record& record, pugi::xml_node suite) {
  pugi::xml_node node = suite.append_child("testcase");
  node.append_attribute("classname") = printable(fmt::format("{}.{}", record.impl_name, record.op)).c_str();
  node.append_attribute("name") = printable(record.id).c_str();
  node.append_attribute("time") = seconds(record.ms).c_str();
  pugi::xml_node properties = node.append_child("properties");
  const auto add_property = [&](const char* name, const std::string& value) {
    pugi::xml_node property = properties.append_child("property");
    property.append_attribute("name") = name;
    property.append_attribute("value") = printable(value).c_str();
  };
  add_property("repro", record.repro());
  if (!record.verdict.note.empty()) add_property("note", record.verdict.note);
  const char* element = outcome(record.verdict.status);
  if (element == nullptr) return;
  pugi::xml_node result = node.append_child(element);
  result.append_attribute("type") = std::string(status_word(record.verdict.status)).c_str();
  result.append_attribute("message") = printable(record.verdict.reason).c_str();
  const std::string text = verdict_text(record.verdict) + "  repro: " + record.repro() + "\n";
  result.append_child(pugi::node_pcdata).set_value(printable(text, text.max_size(), Newlines::kKept).c_str());
}

}  // namespace

std::string junit(std::span<const Record> records) {
  std::vector<std::string> ops;
  Totals all;
  for (const Record& record : records) {
    all.add(record);
    if (std::ranges::find(ops, record.op) == ops.end()) ops.push_back(record.op);
  }
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("testsuites");
  root.append_attribute("name") = "backgauge";
  all.write(root);
  for (const std::string& op : ops) {
    pugi::xml_node suite = root.append_child("testsuite");
    suite.append_attribute("name") = op.c_str();
    Totals totals;
    for (const Record& record : records) {
      if (record.op == op) totals.add(record);
    }
    totals.write(suite);
    for (const Record& record : records) {
      if (record.op == op) write_case(record, suite);
    }
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace backgauge
