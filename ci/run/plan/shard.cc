// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"

namespace backgauge::cli {
namespace {

// An empty variable counts as not set.
std::optional<std::size_t> variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const auto value = number_in<std::size_t>(text);
  if (!value) throw CommandError{kUsage, fmt::format("{}={}: expected a whole number", name, text)};
  return value;
}

struct System {
  const char *index, *count;
  const char *first, *step;  // names of variables, or nullptr
  std::size_t default_first;
};
constexpr System kSystems[] = {
    {"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", nullptr, nullptr, 0},
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", 0},
    {"CI_NODE_INDEX", "CI_NODE_TOTAL", nullptr, nullptr, 1}};

std::optional<Shard> shard_of(const System& system) {
  const std::optional<std::size_t> index = variable(system.index), count = variable(system.count);
  // GitLab sets CI_NODE_TOTAL=1 and no index for jobs that are not parallel.
  if (!index && (!count || *count == 1)) return std::nullopt;
  if (!index || !count) {
    throw CommandError{kUsage, fmt::format("{} is set and {} is not", index ? system.index : system.count,
                                           index ? system.count : system.index)};
  }
  const std::size_t first = system.first ? variable(system.first).value_or(0) : system.default_first;
  const std::size_t step = system.step ? variable(system.step).value_or(1) : 1;
  if (step == 0 || *index < first || (*index - first) % step != 0 || (*index - first) / step >= *count) {
    throw CommandError{kUsage,
                       fmt::format("{}={}: not a shard of {}={}, counted from {}{}", system.index, *index, system.count,
                                   *count, first, step == 1 ? "" : fmt::format(" in steps of {}", step))};
  }
  return Shard{(*index - first) / step + 1, *count};
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", index, count); }

Shard chosen_shard(const std::string& flag) {
  if (!flag.empty()) {
    const std::size_t slash = std::min(flag.find('/'), flag.size());
    const std::size_t index = number_in<std::size_t>(std::string_view(flag).substr(0, slash)).value_or(0);
    const std::size_t count =
        number_in<std::size_t>(std::string_view(flag).substr(std::min(slash + 1, flag.size()))).value_or(0);
    if (index < 1 || index > count) {
      throw CommandError{kUsage, fmt::format("--shard={}: expected i/n, i from 1 to n", flag)};
    }
    return {index, count};
  }
  std::optional<Shard> shard;
  const char* by = nullptr;
  for (const System& system : kSystems) {
    const std::optional<Shard> other = shard_of(system);
    if (!other) continue;
    if (shard && *shard != *other) {
      throw CommandError{kUsage, fmt::format("{} says shard {}, {} says shard {}: choose one with --shard=i/n", by,
                                             shard->text(), system.index, other->text())};
    }
    shard = other;
    by = system.index;
  }
  return shard.value_or(Shard{});
}

}  // namespace backgauge::cli
