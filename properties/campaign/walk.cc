// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/walk.h"

#include <algorithm>
#include <set>
#include <utility>

#include "properties/campaign/draws.h"
#include "properties/campaign/settings.h"
#include "properties/case/inputs.h"
#include "properties/judge/claims.h"
#include "properties/judge/findings.h"
#include "properties/judge/placement.h"

namespace backgauge {
namespace {

void shuffle(std::vector<int>& values, Draws& draws) {
  for (std::size_t k = values.size(); k > 1; --k) {
    std::swap(values[k - 1], values[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(k)))]);
  }
}

struct Station {
  Case c;
  Problem problem;
  std::uint64_t placement;                // shared with the configuration that differs in values only
  std::vector<Output> forward, gradient;  // of the first visit; empty before it
};

class Walker {
 public:
  Walker(Runner& runner, const WalkOptions& options) : runner_(runner), options_(options) {
    const std::vector<Case> cases = walk_configurations(options.ops, options.configurations, options.seed);
    for (std::size_t k = 0; k < cases.size(); ++k) {
      Filled filled = fill(cases[k]);
      const backgauge_op_claims* claims = claims_of(runner.table(), cases[k].op);
      if (!filled.error.empty() || !unclaimed(claims, filled.problem, filled.facts).empty()) continue;
      stations_.push_back({cases[k], std::move(filled.problem), k / 2, {}, {}});
      walk_.bits_compared |= repeats(cases[k].op);
    }
    walk_.configurations = static_cast<int>(stations_.size());
  }

  Walk run() {
    if (stations_.size() < 2) return walk_;
    std::set<std::pair<int, int>> pairs;
    int before = -1;
    for (const int now : walk_order(walk_.configurations, options_.calls, options_.seed)) {
      ++walk_.calls;
      if (before >= 0 && before != now) pairs.insert({before, now});
      walk_.failure = visit(stations_[static_cast<std::size_t>(now)]);
      if (!walk_.failure.empty()) {
        walk_.failed = stations_[static_cast<std::size_t>(now)].c;
        if (before >= 0) walk_.before = stations_[static_cast<std::size_t>(before)].c;
        break;
      }
      before = now;
    }
    walk_.pairs = static_cast<int>(pairs.size());
    return walk_;
  }

 private:
  bool repeats(backgauge_op op) const {
    return claims_of(runner_.table(), op)->determinism != BACKGAUGE_NOT_DETERMINISTIC;
  }

  std::string visit(Station& station) {
    RunOptions run_options;
    run_options.num_threads = options_.num_threads;
    run_options.placement = Placement(station.placement);
    if (claims_of(runner_.table(), station.c.op)->changes_reserve_space != 0) {
      run_options.changed_inputs = {"reserve_space"};
    }
    std::vector<RawTensor> raw;
    std::string failure;
    if (station.c.op == BACKGAUGE_CUDNN_RNN_BACKPROP) {
      failure = call(forward_problem(station.problem), {}, run_options, station.c.op, station.forward, &raw);
    }
    if (failure.empty()) failure = call(station.problem, raw, run_options, station.c.op, station.gradient, nullptr);
    const Runner::CaseEnd end = runner_.end_case();
    if (failure.empty() && !end.violations.empty()) failure = end.violations.front();
    return failure.empty() ? end.broken : failure;
  }

  // What is wrong with a call, given the outputs of the first one like it; those are kept if it is the first.
  std::string call(const Problem& problem, const std::vector<RawTensor>& raw, const RunOptions& run_options,
                   backgauge_op op, std::vector<Output>& first, std::vector<RawTensor>* made) {
    RunResult result = runner_.run(problem, raw, run_options);
    if (const auto verdict = trouble(result)) return verdict->reason;
    if (made != nullptr) {
      for (const Output& output : result.outputs) made->push_back(output.raw);
    }
    std::string difference;
    if (!first.empty() && repeats(op)) difference = first_difference(first, result.outputs);
    if (first.empty()) first = std::move(result.outputs);
    return difference.empty() ? "" : "other bits than in its first call: " + difference;
  }

  Runner& runner_;
  const WalkOptions& options_;
  std::vector<Station> stations_;
  Walk walk_;
};

}  // namespace

std::vector<Case> walk_configurations(const std::vector<backgauge_op>& ops, int count, std::uint64_t seed) {
  std::vector<Case> out;
  Draws draws(seed, "walk");
  std::vector<std::vector<Row>> rows;
  for (const backgauge_op op : ops) rows.push_back(covering_array(factors_of(op), 2));
  while (!ops.empty() && out.size() < static_cast<std::size_t>(count)) {
    if (out.size() % 4 == 3) {
      out.push_back(out.back());
      out.back().seed = draws.seed();
      continue;
    }
    const auto which = static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(ops.size())));
    Case c = case_of(ops[which], draws.pick(std::span<const Row>(rows[which])), draws);
    // One that has something to compare. What a NaN becomes has no bits that repeat.
    if (c.B == 0 || c.data == DataClass::kNan || c.data == DataClass::kInf) continue;
    out.push_back(std::move(c));
  }
  return out;
}

std::vector<int> walk_order(int count, int length, std::uint64_t seed) {
  Draws draws(seed, "walk_order");
  // A closed walk that uses every edge of the complete directed graph once (Hierholzer): leave along unused edges until
  // stuck, which can only be where it began, and put what is left unused in between on the way back.
  std::vector<std::vector<int>> unused(static_cast<std::size_t>(count));
  for (int from = 0; from < count; ++from) {
    std::vector<int>& targets = unused[static_cast<std::size_t>(from)];
    for (int to = 0; to < count; ++to) {
      if (to != from) targets.push_back(to);
    }
    shuffle(targets, draws);
  }
  std::vector<int> path = {0}, order;
  while (!path.empty()) {
    std::vector<int>& targets = unused[static_cast<std::size_t>(path.back())];
    if (targets.empty()) {
      order.push_back(path.back());
      path.pop_back();
    } else {
      path.push_back(targets.back());
      targets.pop_back();
    }
  }
  std::ranges::reverse(order);
  while (order.size() < static_cast<std::size_t>(length)) {
    const int a = static_cast<int>(draws.below(count)), b = static_cast<int>(draws.below(count));
    if (a != b) order.insert(order.end(), {a, b, a});
  }
  order.resize(static_cast<std::size_t>(length));
  return order;
}

Walk walk(Runner& runner, const WalkOptions& options) { return Walker(runner, options).run(); }

}  // namespace backgauge
