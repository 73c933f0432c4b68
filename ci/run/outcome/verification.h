// SPDX-License-Identifier: Apache-2.0
// A finished run as data: summary.json, schema "backgauge.verification/1", from which the page and the Markdown summary
// are made (verification_page.h), and which other programs may read. README.md in properties/ lists the keys.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ci/run/outcome/run_folder.h"
#include "ci/run/outcome/summary.h"
#include "ci/run/plan/shard.h"

namespace backgauge::cli {

struct Verification {
  const RunHead& head;
  const RecordsByIndex& records;
  const RecordsByIndex& shrunk;
  const std::vector<Record>& checks;  // those that failed
  const Summary& summary;
  std::vector<std::string> remarks;  // on waivers
  std::size_t planned = 0;           // cases that this run had to judge: those of its shard
  int exit_code = 0;
  std::string impl_given;  // for lines that reproduce a failure, quoted for a shell; "": its own name
};

nlohmann::ordered_json to_json(const Verification& run);

}  // namespace backgauge::cli
