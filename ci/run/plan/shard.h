// SPDX-License-Identifier: Apache-2.0
// The part of a run that this machine judges: cases i, i + n, i + 2n, ... of the plan, so that every shard gets its
// share of each op and of the slow cases, and all shards together are the whole plan.
#pragma once

#include <cstddef>
#include <string>

namespace backgauge::cli {

struct Shard {
  std::size_t index = 1, count = 1;  // index from 1 to count

  bool has(std::size_t plan_index) const { return plan_index % count == index - 1; }
  bool is_whole() const { return count == 1; }
  bool is_first() const { return index == 1; }
  std::string text() const;  // "2/8"
  bool operator==(const Shard&) const = default;
};

// On input "2/8", or "" to read the environment:
//   GTEST_SHARD_INDEX (from 0), GTEST_TOTAL_SHARDS
//   SLURM_ARRAY_TASK_ID (from SLURM_ARRAY_TASK_MIN in steps of SLURM_ARRAY_TASK_STEP), SLURM_ARRAY_TASK_COUNT
//   CI_NODE_INDEX (from 1), CI_NODE_TOTAL
// Throws CommandError(kUsage) for anything else, for an incomplete pair, and if two of the three disagree: a case
// that is in no shard would not be noticed.
Shard chosen_shard(const std::string& flag);

}  // namespace backgauge::cli
