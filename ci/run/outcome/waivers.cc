// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/waivers.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <toml++/toml.h>

#include <algorithm>
#include <ctime>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "properties/judge/call/printable.h"

namespace backgauge::cli {
namespace {

constexpr std::string_view kKeys[] = {"case", "kind", "impl", "reason", "url", "expires"};

std::string place_of(const std::string& file, const toml::node& node) {
  return fmt::format("{}:{}", file, node.source().begin.line);
}

CommandError refused(const std::string& where, const std::string& why) { return {kUsage, where + ": " + why}; }

std::string text_of(const std::string& where, const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return "";
  const std::optional<std::string> text = node->value<std::string>();
  if (!text || text->empty()) throw refused(where, fmt::format("{}: expected text that is not empty", key));
  return printable(*text);
}

std::string required(const std::string& where, const toml::table& table, std::string_view key) {
  std::string text = text_of(where, table, key);
  if (text.empty()) throw refused(where, fmt::format("a waiver without {}", key));
  return text;
}

std::string day_of(const std::string& where, const toml::table& table) {
  const toml::node* node = table.get("expires");
  if (node == nullptr) throw refused(where, "a waiver without expires");
  const std::optional<toml::date> day = node->value<toml::date>();
  if (!day) throw refused(where, "expires: expected a date without quotes, such as 2027-03-31");
  return fmt::format("{:04}-{:02}-{:02}", day->year, day->month, day->day);
}

Waiver waiver_of(const std::string& file, const toml::node& node, const std::string& today) {
  const std::string where = place_of(file, node);
  const toml::table* table = node.as_table();
  if (table == nullptr) throw refused(where, "expected a table [[waiver]]");
  for (const auto& [key, value] : *table) {
    if (std::ranges::find(kKeys, key.str()) == std::end(kKeys)) {
      throw refused(place_of(file, value),
                    fmt::format("{}: not a key of a waiver; expected {}", key.str(), fmt::join(kKeys, ", ")));
    }
  }
  Waiver out;
  out.where = where;
  out.pattern = {text_of(where, *table, "case"), text_of(where, *table, "kind"), required(where, *table, "impl")};
  if (out.pattern.cases.empty() && out.pattern.kind.empty()) throw refused(where, "a waiver without case or kind");
  out.shown = {required(where, *table, "reason"), required(where, *table, "url"), day_of(where, *table)};
  out.expired = out.shown.expires < today;
  return out;
}

bool matches(const std::string& pattern, const std::string& text) {
  return pattern.empty() || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string without_checksum(const std::string& line) { return line.substr(0, line.find(" chk=")); }

bool covers(const WaiverPattern& pattern, const Record& record, const std::string& failure) {
  return matches(pattern.implementation, record.impl_name) && matches(pattern.kind, record.op + " " + failure) &&
         (matches(pattern.cases, record.id) || matches(pattern.cases, without_checksum(record.id)));
}

}  // namespace

Waivers::Waivers(const std::string& file, const std::string& today) {
  if (file.empty()) return;
  try {
    const toml::table table = toml::parse_file(file);
    for (const auto& [key, value] : table) {
      if (key.str() != "waiver" || !value.is_array()) {
        throw refused(place_of(file, value), fmt::format("{}: expected only [[waiver]]", key.str()));
      }
      for (const toml::node& node : *value.as_array()) waivers_.push_back(waiver_of(file, node, today));
    }
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw refused(line == 0 ? file : fmt::format("{}:{}", file, line), std::string(error.description()));
  }
}

void Waivers::apply(Record& record) {
  record.waived.reset();
  const std::string failure = failure_of(record.verdict);
  if (failure.empty()) return;
  for (Waiver& waiver : waivers_) {
    if (!covers(waiver.pattern, record, failure)) continue;
    ++waiver.records;
    if (waiver.expired) continue;
    record.waived = waiver.shown;
    return;
  }
}

void Waivers::apply(std::vector<Record>& records) {
  for (Record& record : records) apply(record);
}

std::vector<std::string> Waivers::remarks(bool complete) const {
  std::vector<std::string> out;
  for (const Waiver& waiver : waivers_) {
    if (waiver.expired) {
      out.push_back(fmt::format("{}: the waiver expired on {}; {} covered by it: {}", waiver.where,
                                waiver.shown.expires, counted(waiver.records, "failure"), waiver.shown.reason));
    } else if (waiver.records == 0 && complete) {
      out.push_back(fmt::format("{}: the waiver is not used: this run has no failure that it covers: {}", waiver.where,
                                waiver.shown.reason));
    }
  }
  return out;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

}  // namespace backgauge::cli
