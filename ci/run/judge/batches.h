// SPDX-License-Identifier: Apache-2.0
// A plan in batches: consecutive cases that take about as long as those of any other batch. A batch can be
// judged without the plan. `backgauge batches` makes and judges them, `backgauge campaign` deals them out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ci/run/implementation/candidate.h"
#include "ci/run/plan/run_plan.h"

namespace backgauge::cli {

struct Batch {
  Planned plan;  // with the index of the first case
  std::vector<std::string> lines;
};

// All batches of a plan, in its order, each of at least this work in units of expected_work(). They depend on nothing
// else.
std::vector<Batch> batches_of(const RunPlan& plan, double work);

// {"tier": "ci", "seed": 1, "cases": 60000, "digest": "…", "index": 500, "lines": ["…", …]}, on one line.
std::string to_json(const Batch& batch);

// On input such an object. Throws CommandError(kUsage) for anything else.
Batch parse_batch(const nlohmann::ordered_json& json);

struct JudgedBatch {
  std::size_t kept = 0;    // cases that the file had already
  std::size_t failed = 0;  // FAILED or BROKEN, of all cases
};

// Judges the cases of a batch of a tier one after the other, and appends their records to a file. Records that the file
// has are kept. Waits while another process judges into the same file. Throws CommandError(kUsage) if the file cannot
// be opened or holds anything else, std::system_error if it cannot be written.
JudgedBatch judge_batch(Candidate& candidate, const Batch& batch, int num_threads, const std::filesystem::path& file);

}  // namespace backgauge::cli
