// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/run_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "ci/options/command_error.h"
#include "ci/run/outcome/verification_page.h"
#include "perf/machine/machine.h"
#include "properties/case/files/npy.h"

namespace backgauge::cli {
namespace {

constexpr const char *kHead = "run.json", *kRecords = "records.jsonl", *kJUnit = "junit.xml", *kShrunk = "shrunk.jsonl",
                     *kData = "summary.json", *kPage = "index.html", *kMarkdown = "summary.md";
constexpr const char* kWrittenAtTheEnd[] = {kJUnit, kShrunk, kData, kPage, kMarkdown};

std::string text_of(const RecordsByIndex& records) {
  std::string text;
  for (const auto& [index, record] : records) text += to_json(record) + "\n";
  return text;
}

RecordsByIndex resumed(const std::filesystem::path& directory, const RunHead& head) {
  const std::filesystem::path file = directory / kRecords;
  const auto refuse = [&](const std::string& why) {
    throw CommandError{kUsage, fmt::format("--resume: {} holds another run: {}", directory.string(), why)};
  };
  const std::optional<RunHead> there = read_head(directory);
  std::error_code error;
  if (!there) {
    if (std::filesystem::exists(file, error)) refuse("it has records but no run.json");
    return {};
  }
  if (const std::string what = difference(*there, head); !what.empty()) refuse(what);
  if (!std::filesystem::exists(file, error)) return {};
  RecordsByIndex records = read_records(file);
  for (const auto& [index, record] : records) {
    if (!record.plan->same_plan(head.plan)) refuse("a record of another plan: " + record.id);
  }
  return records;
}

// The current time in UTC, in the format of ISO 8601.
std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

JunitRun told_of(const RunHead& head) {
  char hostname[256] = "";
  if (gethostname(hostname, sizeof hostname - 1) != 0) hostname[0] = '\0';
  const Machine machine = this_machine();
  JunitRun run{hostname, timestamp(), {}};
  run.properties = {{"version", head.version},
                    {"implementation", head.impl_name + " " + head.impl_version},
                    {"machine", machine.cpu_model},
                    {"isa", machine.isa},
                    {"threads", std::to_string(head.threads)},
                    {"shard", head.shard}};
  if (!head.library.empty()) run.properties.emplace_back("library", head.library);
  for (const Claims& each : head.terms) {
    run.properties.emplace_back(fmt::format("terms of {}", each.spec().word), terms_text(each));
  }
  if (!head.plan.tier.empty()) {
    run.properties.emplace_back("tier", head.plan.tier);
    run.properties.emplace_back("seed", std::to_string(head.plan.seed));
  }
  return run;
}

}  // namespace

bool same_result(const Record& a, const Record& b) {
  Record left = a, right = b;
  left.ms = right.ms = 0;
  return to_json(left) == to_json(right);
}

RecordsByIndex read_records(const std::filesystem::path& file, std::vector<Record>* checks) {
  const auto refuse = [&](const std::string& why) {
    throw CommandError{kUsage, fmt::format("{}: {}", file.string(), why)};
  };
  std::string text, error;
  if (!read_file(file, text, error)) throw CommandError{kUsage, error};
  Records all = parse_records(text);
  if (!all.error.empty()) refuse(all.error);
  RecordsByIndex records;
  for (Record& record : all.records) {
    if (is_check(record)) {
      if (checks != nullptr) checks->push_back(std::move(record));
      continue;
    }
    if (!record.plan) refuse("a record without a plan: " + record.id);
    const auto index = static_cast<std::size_t>(record.plan->index);
    const auto [place, is_new] = records.try_emplace(index, record);
    if (!is_new && !same_result(place->second, record)) refuse("two records that disagree on " + record.id);
  }
  return records;
}

RunFolder::RunFolder(const std::string& directory, const RunHead& head, bool resume)
    : directory_(directory), told_(directory.empty() ? JunitRun{} : told_of(head)) {
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  const auto refuse = [&](const std::string& why) {
    throw CommandError{kUsage, fmt::format("--out={}: {}", directory, why)};
  };
  if (error) refuse(error.message());
  lock_ = Descriptor(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems cannot lock folders; there, runs are not protected from each other.
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) refuse("another run is writing there");
  const auto refuse_folder = [&](const char* name) {
    if (std::filesystem::is_directory(directory_ / name, error)) refuse(std::string(name) + " is a folder");
  };
  for (const char* name : {kHead, kRecords}) refuse_folder(name);
  for (const char* name : kWrittenAtTheEnd) refuse_folder(name);
  if (resume) kept_ = resumed(directory_, head);
  if (kept_.empty()) std::filesystem::remove(directory_ / kRecords, error);
  for (const char* name : kWrittenAtTheEnd) std::filesystem::remove(directory_ / name, error);
  try {
    write(kHead, to_json(head) + "\n");
    if (!kept_.empty()) write(kRecords, text_of(kept_));  // without an incomplete last line
    writer_.emplace((directory_ / kRecords).string());
  } catch (const std::system_error& failure) {
    refuse(failure.what());
  }
}

void RunFolder::add(const Record& record) {
  if (writer_) writer_->append(record);
}

void RunFolder::finish(const RecordsByIndex& records, const RecordsByIndex& shrunk, const std::vector<Record>& checks,
                       const std::string& impl_given) {
  if (!writer_) return;
  writer_.reset();
  std::string text = text_of(records);
  for (const Record& check : checks) text += to_json(check) + "\n";
  write(kRecords, text);
  if (!shrunk.empty()) write(kShrunk, text_of(shrunk));
  std::vector<Record> in_order;
  for (const auto& [index, record] : records) in_order.push_back(record);
  in_order.insert(in_order.end(), checks.begin(), checks.end());
  for (Record& record : in_order) record.impl_given = impl_given;
  write(kJUnit, junit(in_order, told_));
}

void RunFolder::write_pages(const nlohmann::ordered_json& verification) const {
  if (directory_.empty()) return;
  write(kData, verification.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  write(kPage, html_page(verification));
  write(kMarkdown, markdown_summary(verification));
}

// Replaces a file atomically.
void RunFolder::write(const char* name, const std::string& text) const {
  const std::filesystem::path path = directory_ / name, unfinished = directory_ / (std::string(name) + ".unfinished");
  std::ofstream file(unfinished, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::system_error(errno, std::generic_category(), path.string());
  std::filesystem::rename(unfinished, path);
}

}  // namespace backgauge::cli
