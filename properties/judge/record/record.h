// SPDX-License-Identifier: Apache-2.0
// One judged case as one line of JSON, schema "backgauge.record/1", which reports, gates and merges read. The order of
// the keys is fixed; numbers keep every bit; "inf", "-inf" and "nan" are strings. README.md lists the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/judge/compare/verdict.h"

namespace backgauge {

// The position of a case in the plan of its run. Records of one plan can be merged, also from different machines.
struct Planned {
  std::string tier;        // "" if the cases were given by hand
  std::uint64_t seed = 0;  // of the tier's choices
  std::int64_t cases = 0;  // in the whole plan
  std::string digest;      // of all its case lines
  std::int64_t index = 0;  // of this case, from 0

  bool same_plan(const Planned& other) const {
    return tier == other.tier && seed == other.seed && cases == other.cases && digest == other.digest;
  }
};

// A failure that is known, and accepted until a date. The verdict of its record does not change.
struct Waived {
  std::string reason, url, expires;  // expires: the last day, 2027-03-31
};

struct Record {
  std::string id;  // the case line
  std::string op;  // its word
  std::string impl_name, impl_version;
  Verdict verdict;
  std::string shrunk_from;  // the case line it came from, or ""
  bool isolated = false;    // judged in a process of its own
  bool flaky = false;       // a failure that did not repeat when the case ran alone
  double ms = 0;            // wall time of the whole case
  std::optional<Planned> plan{};
  int redraws = 0;  // how often other values were drawn because the bounds proved nothing with the first
  std::optional<Waived> waived{};
  std::string impl_given{};  // the implementation as the user gave it, quoted for a shell; "": impl_name. Not stored

  std::string repro() const;  // a command line that judges it again
};

// The id of a record begins with this if it is not of a case but of a check of the implementation as a whole. No case
// line does.
inline constexpr std::string_view kCheckPrefix = "check: ";
inline bool is_check(const Record& record) { return record.id.starts_with(kCheckPrefix); }

// WAIVED, or the word of its verdict.
std::string_view shown_word(const Record& record);

// One line, without a newline.
std::string to_json(const Record& record);

// On input a line as to_json makes it; unknown keys are ignored. On output the record, or what is wrong in `error`.
std::optional<Record> parse_record(std::string_view line, std::string& error);

// Appends lines to a file, each with one write, so that all lines but the last are complete even if the process ends.
class RecordWriter {
 public:
  // Throws std::system_error if the file cannot be opened or written.
  explicit RecordWriter(const std::string& path);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  void append(const Record& record);

 private:
  int file_;
};

// The records of a text, in order. A last line without a newline is incomplete and left out; `torn` is then true.
struct Records {
  std::vector<Record> records;
  bool torn = false;
  std::string error;  // number of the first line that is not a record, and why; reading ends there
};
Records parse_records(std::string_view text);

}  // namespace backgauge
