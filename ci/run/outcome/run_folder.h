// SPDX-License-Identifier: Apache-2.0
// The files of --out: run.json at the start, records.jsonl as cases end; at the end, records.jsonl in order, junit.xml
// and the pages. If the process is killed, only the cases in flight are lost.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ci/run/outcome/run_head.h"
#include "properties/judge/record/junit.h"
#include "properties/judge/record/record.h"
#include "properties/judge/worker/channel.h"

namespace backgauge::cli {

using RecordsByIndex = std::map<std::size_t, Record>;  // by index in the plan

// The records of a file; an incomplete last line is ignored. Throws CommandError(kUsage) if the file cannot be read,
// has a line that is not a record of a plan, or has one case twice with different results. Records of checks (checks.h)
// are added to `checks`, if it is given.
RecordsByIndex read_records(const std::filesystem::path& file, std::vector<Record>* checks = nullptr);

// Equal except for their timings.
bool same_result(const Record& a, const Record& b);

class RunFolder {
 public:
  // On input the folder, created if needed; with "" nothing is written. `resume`: keeps the records of this run that
  // the folder has; otherwise they are replaced. Throws CommandError(kUsage) if the folder cannot be written, another
  // process is writing there, or it holds a different run from the one to resume.
  RunFolder(const std::string& directory, const RunHead& head, bool resume);

  const RecordsByIndex& kept() const { return kept_; }

  // From any thread, one at a time. Throws std::system_error.
  void add(const Record& record);

  // Writes records.jsonl anew, in the order of the plan, junit.xml, and shrunk.jsonl if anything was shrunk, each
  // record in the position of the one it came from. `impl_given`: for repro lines, quoted. Throws std::system_error.
  // `checks`: records without a case, after all others in records.jsonl and junit.xml.
  void finish(const RecordsByIndex& records, const RecordsByIndex& shrunk, const std::vector<Record>& checks,
              const std::string& impl_given);

  // Writes summary.json, the page index.html and summary.md. Throws std::system_error.
  void write_pages(const nlohmann::ordered_json& verification) const;

 private:
  void write(const char* name, const std::string& text) const;

  std::filesystem::path directory_;
  Descriptor lock_;  // lock on the folder, for the lifetime of this object
  JunitRun told_;
  std::optional<RecordWriter> writer_;
  RecordsByIndex kept_;
};

}  // namespace backgauge::cli
