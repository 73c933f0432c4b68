// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/grid.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "ci/options/command_error.h"
#include "ci/run/judge/judging.h"
#include "ci/run/process/in_parallel.h"
#include "ci/run/process/interrupt.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/judge.h"
#include "properties/laws/transform.h"

namespace backgauge::cli {
namespace {

Judged summarized(const Verdict& verdict) {
  Judged judged{verdict.status, 0, ""};
  const TensorReport* worst = nullptr;
  for (const TensorReport& tensor : verdict.tensors) {
    if (worst == nullptr || tensor.max_ratio > worst->max_ratio) worst = &tensor;
    if (tensor.nonfinite + tensor.unwritten > 0) judged.margin = std::numeric_limits<double>::infinity();
  }
  if (worst != nullptr) judged.margin = std::max(judged.margin, worst->max_ratio);
  if (!judged.killed()) return judged;
  if (verdict.tensors.empty()) judged.margin = std::numeric_limits<double>::infinity();
  const std::string text = verdict_text(verdict);
  const std::size_t begin = text.find_first_not_of(' ');
  judged.evidence = begin == std::string::npos ? verdict.reason : text.substr(begin, text.find('\n', begin) - begin);
  return judged;
}

// One case for all implementations. Its inputs and expected outputs are computed once.
class Row {
 public:
  Row(const Case& c, int scale) : case_(c) {
    if (c.data == DataProfile::kMalformed) return;
    filled_ = fill(c);
    if (!filled_.error.empty()) throw CommandError{kSelfCheck, to_string(c) + ": " + filled_.error};
    if (scale != 0) {
      change_upstream(filled_.problem,
                      [&](std::string_view, std::int64_t, double value) { return std::ldexp(value, scale); });
    }
    options_.seed = placement_seed(c, filled_);
    options_.expected = &expected_.emplace(filled_.facts);
  }

  Judged judged(Runner& runner) {
    if (!claims_of(runner.table(), case_.op)) return {Status::kSkipped, 0, ""};
    const Verdict verdict = case_.data == DataProfile::kMalformed
                                ? judge_malformed(runner, case_)
                                : judge_case(runner, filled_.problem, filled_.facts, options_);
    if (verdict.status == Status::kBroken && verdict.reason.starts_with("harness") && !cut_short()) {
      throw CommandError{kSelfCheck,
                         std::string(runner.table().name) + " on " + to_string(case_) + ": " + verdict.reason};
    }
    return summarized(verdict);
  }

 private:
  const Case& case_;
  Filled filled_;
  std::optional<ExpectedOutputs> expected_;  // not for a malformed call
  JudgeOptions options_;
};

}  // namespace

Grid judge_grid(const std::vector<Case>& cases, const std::vector<std::vector<Runner*>>& runners,
                const GridOptions& options) {
  Grid grid(cases.size());
  std::atomic<std::size_t> done{0};
  in_parallel(cases.size(), static_cast<int>(runners.size()), [&](std::size_t turn, std::size_t worker) {
    Row row(cases[turn], options.scale);
    for (Runner* runner : runners[worker]) grid[turn].push_back(row.judged(*runner));
    if (options.progress) options.progress(++done);
  });
  if (interrupted()) std::erase_if(grid, [](const std::vector<Judged>& row) { return row.empty(); });
  return grid;
}

Grid judge_grid(const std::vector<Case>& cases, const std::vector<const backgauge_implementation*>& implementations,
                const GridOptions& options) {
  std::vector<std::unique_ptr<Runner>> owned;
  std::vector<std::vector<Runner*>> runners(static_cast<std::size_t>(options.workers));
  for (std::vector<Runner*>& row : runners) {
    for (const backgauge_implementation* implementation : implementations) {
      row.push_back(owned.emplace_back(std::make_unique<InProcessRunner>(*implementation)).get());
    }
  }
  return judge_grid(cases, runners, options);
}

}  // namespace backgauge::cli
