// SPDX-License-Identifier: Apache-2.0
// Records as JUnit XML, for the test views of CI servers. records.jsonl has every case; this has what such a view can
// show: a suite for each op, and in it a test for
//   each dtype and class of data        "f16 data=large": of the cases that were judged. It fails where one of them
//   does;
//                                       its text tells the first failure of each kind. Names are the same for every
//                                       seed
//   each reason to skip                 "skipped: dtype f16 is not claimed"
//   what is MISTRUSTED                  "mistrusted", counted as skipped
//   each record that is of no case      by its id
// Properties of a test count its cases; those of a suite say what was judged, where and when.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/judge/record/record.h"

namespace backgauge {

struct JunitRun {
  std::string hostname, timestamp;                              // ISO 8601, of its begin; "": not told
  std::vector<std::pair<std::string, std::string>> properties;  // of every suite: {"version", "0.1.0"}
};

std::string junit(std::span<const Record> records, const JunitRun& run);

}  // namespace backgauge
