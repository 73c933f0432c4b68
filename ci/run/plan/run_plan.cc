// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/plan/preflight.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/case/line/philox.h"
#include "properties/case/line/regressions.h"
#include "properties/case/stored/golden.h"
#include "properties/judge/runner/refusals.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {
namespace {

std::vector<Case> golden_cases(const std::vector<backgauge_op>& ops) {
  std::string error;
  const std::filesystem::path directory = golden_directory(error);
  std::vector<Golden> goldens;
  if (error.empty()) goldens = list_goldens(directory, error);
  if (!error.empty()) throw CommandError{kSelfCheck, "golden vectors: " + error};
  std::vector<Case> out;
  for (const Golden& golden : goldens) {
    if (std::ranges::find(ops, golden.case_line.op) != ops.end()) out.push_back(golden.case_line);
  }
  return out;
}

std::vector<Case> regressions(const std::vector<backgauge_op>& ops) {
  std::string error;
  const std::filesystem::path file = regressions_file(error);
  std::vector<Case> out;
  if (error.empty()) out = read_regressions(file, error);
  if (!error.empty()) throw CommandError{kUsage, "regressions: " + error};
  std::erase_if(out, [&](const Case& c) { return std::ranges::find(ops, c.op) == ops.end(); });
  for (const Case& c : out) require_makeable(c);
  return out;
}

// Of an op and dtype: 200 malformed calls, spread evenly, and one of each kind that is not among them.
std::set<std::uint64_t> sample_of(backgauge_op op, backgauge_dtype dtype, std::uint64_t count, std::uint64_t seed) {
  constexpr std::uint64_t kSpread = 200;
  std::set<std::uint64_t> out;
  std::set<std::string> kinds;
  const auto kind = [&](std::uint64_t number) { return malformed_kind(malformed_of_case(op, dtype, number)); };
  for (std::uint64_t k = 0; k < std::min(kSpread, count); ++k) {
    kinds.insert(kind(*out.insert((k * count / kSpread + seed) % count).first));
  }
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t number = (k + seed) % count;
    if (kinds.insert(kind(number)).second) out.insert(number);
  }
  return out;
}

// All malformed calls, which take a second; in a smoke tier a sample.
std::vector<Case> malformed_cases(Tier tier, std::uint64_t seed, const std::vector<backgauge_op>& ops) {
  std::vector<Case> out;
  for (const backgauge_op op : ops) {
    for (const backgauge_dtype dtype : kFloatDtypes) {
      if ((find_op(op)->dtypes & BACKGAUGE_BIT(dtype)) == 0) continue;
      const std::uint64_t count = malformed_case_count(op, dtype);
      const auto add = [&](std::uint64_t number) {
        out.push_back({.op = op, .dtype = dtype, .data = DataProfile::kMalformed, .seed = number});
      };
      if (tier == Tier::kSmoke) {
        std::ranges::for_each(sample_of(op, dtype, count, seed), add);
      } else {
        for (std::uint64_t number = 0; number < count; ++number) add((number + seed) % count);
      }
    }
  }
  return out;
}

RunPlan numbered(std::vector<Case> cases) {
  RunPlan plan{std::move(cases), {}};
  std::uint64_t hash = kFnvBasis;
  for (const Case& c : plan.cases) {
    const std::string line = to_string(c) + "\n";
    hash = fnv1a(line.data(), line.size(), hash);
  }
  plan.planned.cases = static_cast<std::int64_t>(plan.cases.size());
  plan.planned.digest = fmt::format("{:016x}", hash);
  return plan;
}

}  // namespace

Planned RunPlan::at(std::size_t index) const {
  Planned out = planned;
  out.index = static_cast<std::int64_t>(index);
  return out;
}

RunPlan plan_of_tier(const std::string& tier, std::uint64_t seed, const std::string& ops) {
  const std::optional<Tier> parsed = parse_tier(tier);
  if (!parsed) throw CommandError{kUsage, fmt::format("--tier={}: expected {}", tier, kTierWords)};
  const std::vector<backgauge_op> chosen = parse_ops(ops);
  std::vector<Case> cases = regressions(chosen);
  for (Case& c : golden_cases(chosen)) cases.push_back(std::move(c));
  for (Case& c : plan({.tier = *parsed, .seed = seed, .ops = chosen})) cases.push_back(std::move(c));
  for (Case& c : malformed_cases(*parsed, seed, chosen)) cases.push_back(std::move(c));
  RunPlan out = numbered(std::move(cases));
  out.planned.tier = tier;
  out.planned.seed = seed;
  return out;
}

RunPlan plan_of_lines(const std::vector<std::string>& lines) {
  std::vector<Case> cases;
  for (const std::string& line : lines) {
    cases.push_back(parse_case_or_throw(line));
    require_makeable(cases.back());
  }
  return numbered(std::move(cases));
}

}  // namespace backgauge::cli
