// SPDX-License-Identifier: Apache-2.0
// The run that a folder of records belongs to: run.json, schema "backgauge.run/1". A run can only
// be resumed if the heads are equal.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ci/run/implementation/terms.h"
#include "properties/judge/record/record.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cli {

struct RunHead {
  std::string version;  // of backgauge
  std::string command;  // digest of the program that judges
  std::string impl_name, impl_version;
  std::string library;  // digest of its shared library or Python file; "" for a built-in one
  Terms terms;          // of the implementation, about all ops
  int threads = 1;      // of the implementation, per call
  std::string shard;    // "2/8"
  Planned plan;         // index 0
};

// 16 hexadecimal digits.
std::string digest_of_file(const std::filesystem::path& path);

// `impl_given`: how the user named the implementation.
RunHead head_of_this_run(const backgauge_implementation& implementation, const std::string& given, int threads,
                         const std::string& shard, const Planned& plan);

std::string to_json(const RunHead& head);

// The head in a folder; nullopt if there is none. Throws CommandError(kUsage) if it cannot be read.
std::optional<RunHead> read_head(const std::filesystem::path& directory);

// The first difference between two runs: "seed 1, here 2"; "" if there is none.
std::string difference(const RunHead& there, const RunHead& here);

// The same for parts of one run, which different machines may have judged: everything except program and shard.
std::string difference_of_parts(const RunHead& there, const RunHead& here);

}  // namespace backgauge::cli
