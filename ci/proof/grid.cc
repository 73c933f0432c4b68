// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/grid.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "ci/command.h"
#include "ci/interrupt.h"
#include "properties/case/inputs.h"
#include "properties/judge/claims.h"
#include "properties/judge/judge.h"
#include "properties/judge/report.h"
#include "properties/laws/transform.h"

namespace backgauge::cli {
namespace {

bool same(const Declared& a, const Declared& b) {
  return a.half_class == b.half_class && a.numerical_contract == b.numerical_contract &&
         a.recomputes_co == b.recomputes_co;
}

// What the oracle said of one problem under different declarations and masks.
class OracleMemo {
 public:
  std::vector<Wanted> operator()(const Problem& problem, const Declared& declared, Values values) {
    for (const Entry& entry : entries_) {
      if (entry.op == problem.op && same(entry.declared, declared) && entry.values == values &&
          entry.keep == problem.keep)
        return entry.wanted;
    }
    entries_.push_back({problem.op, declared, values, problem.keep, oracle(problem, declared, values)});
    return entries_.back().wanted;
  }

 private:
  struct Entry {
    backgauge_op op;
    Declared declared;
    Values values;
    std::vector<std::vector<std::uint8_t>> keep;
    std::vector<Wanted> wanted;
  };
  std::vector<Entry> entries_;
};

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

std::vector<Judged> judge_row(const Case& c, const std::vector<const backgauge_implementation*>& implementations,
                              int scale) {
  Filled filled = fill(c);
  if (!filled.error.empty()) throw CommandError{kSelfCheck, to_string(c) + ": " + filled.error};
  if (scale != 0) {
    change_upstream(filled.problem,
                    [&](std::string_view, std::int64_t, double value) { return std::ldexp(value, scale); });
  }
  OracleMemo memo;
  JudgeOptions options;
  options.seed = c.seed;
  options.oracle = [&memo](const Problem& problem, const Declared& declared, Values values) {
    return memo(problem, declared, values);
  };
  std::vector<Judged> row;
  for (const backgauge_implementation* implementation : implementations) {
    if (claims_of(*implementation, c.op) == nullptr) {
      row.push_back({Status::kSkipped, 0, ""});
      continue;
    }
    const Verdict verdict = judge_case(*implementation, filled.problem, filled.facts, options);
    if (verdict.status == Status::kBroken && verdict.reason.starts_with("harness")) {
      throw CommandError{kSelfCheck, std::string(implementation->name) + " on " + to_string(c) + ": " + verdict.reason};
    }
    row.push_back(summarized(verdict));
  }
  return row;
}

}  // namespace

Grid judge_grid(const std::vector<Case>& cases, const std::vector<const backgauge_implementation*>& implementations,
                const GridOptions& options) {
  Grid grid(cases.size());
  std::atomic<std::size_t> next{0}, done{0};
  std::mutex mutex;
  std::optional<CommandError> trouble;
  const auto work = [&] {
    for (;;) {
      const std::size_t mine = next++;
      if (mine >= cases.size() || interrupted()) return;
      try {
        grid[mine] = judge_row(cases[mine], implementations, options.scale);
      } catch (const CommandError& error) {
        const std::lock_guard lock(mutex);
        trouble = error;
        next = cases.size();
        return;
      }
      if (options.progress) options.progress(++done);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int k = 0; k < options.workers; ++k) workers.emplace_back(work);
  }
  if (trouble) throw *trouble;
  if (interrupted()) std::erase_if(grid, [](const std::vector<Judged>& row) { return row.empty(); });
  return grid;
}

}  // namespace backgauge::cli
