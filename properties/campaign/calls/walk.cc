// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/walk.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "properties/campaign/calls/configurations.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/memory/placement.h"
#include "properties/judge/runner/case_session.h"
#include "properties/judge/runner/refusals.h"

namespace backgauge {
namespace {

void shuffle(std::vector<int>& values, Draws& draws) {
  for (std::size_t k = values.size(); k > 1; --k) {
    std::swap(values[k - 1], values[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(k)))]);
  }
}

struct Station {
  Station(Runner& runner, const Case& from, std::uint64_t where)
      : c(from), filled(fill(from)), session(runner, filled.problem, filled.facts), placement(where) {}
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  Case c;
  Filled filled;
  CaseSession session;                        // with the outputs of a forward whose gradient has not been called yet
  std::uint64_t placement;                    // shared with the configuration that differs in values only
  std::vector<Output> forward{}, gradient{};  // from the first visit; empty before it
};

// At these intervals the forward of the next station is called before the gradient of this one, a gradient is called
// twice, and a call that must be refused is made between two legal ones. The intervals are odd and have no common
// factor, so that all combinations occur.
constexpr int kEveryInterleaved = 3, kEveryTwice = 5, kEveryRefused = 7;

constexpr std::int32_t kThreadCounts[] = {0, 1, 2, 3};  // 0: as many as the run has

class Walker {
 public:
  Walker(Runner& runner, const WalkOptions& options) : runner_(runner), options_(options) {
    const std::vector<Case> cases = walk_configurations(options.ops, options.configurations, options.seed);
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Station& station = stations_.emplace_back(runner, cases[k], k / 2);
      if (!station.filled.error.empty() || !station.session.unclaimed().empty()) {
        stations_.pop_back();
        continue;
      }
      walk_.bits_compared |= repeats(station.session);
    }
    walk_.configurations = static_cast<int>(stations_.size());
  }

  Walk run() {
    if (stations_.size() < 2) return walk_;
    std::set<std::pair<int, int>> pairs;
    int before = -1;
    const std::vector<int> order = walk_order(walk_.configurations, options_.calls, options_.seed);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const int now = order[k];
      ++walk_.calls;
      if (before >= 0 && before != now) pairs.insert({before, now});
      Station* next = k + 1 < order.size() ? &stations_[static_cast<std::size_t>(order[k + 1])] : nullptr;
      walk_.failure = visit(stations_[static_cast<std::size_t>(now)], next);
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
  // With a stateful generator the mask may differ at every visit, and so may the values.
  static bool repeats(const CaseSession& session) { return session.repeats() && !session.changes_masks(); }

  RunOptions options_of(const Station& station) const {
    RunOptions out;
    // Varies between calls, if that must not change the bits.
    const std::int32_t count = kThreadCounts[walk_.calls % std::ssize(kThreadCounts)];
    out.num_threads =
        count > 0 && station.session.claims()->determinism[station.filled.problem.dtype] == BACKGAUGE_BITWISE
            ? count
            : options_.num_threads;
    out.placement = Placement(station.placement);
    return out;
  }

  // Calls the forward that a gradient of CudnnRNN needs, unless that has been done.
  std::string make_forward(Station& station) {
    CaseSession& session = station.session;
    if (!session.has_forward() || !session.made().empty()) return "";
    return compare(session.forward(options_of(station)), session, station.forward);
  }

  std::string visit(Station& station, Station* next) {
    const int turn = walk_.calls;
    std::string failure = make_forward(station);
    if (failure.empty() && next != nullptr && next != &station && turn % kEveryInterleaved == 0) {
      failure = make_forward(*next);
    }
    if (turn % kEveryRefused == 0) refuse(station.c);
    for (int times = turn % kEveryTwice == 0 ? 2 : 1; times > 0 && failure.empty(); --times) {
      failure = compare(station.session.gradient(options_of(station)), station.session, station.gradient);
    }
    station.session.forget_forward();
    const RunResult end = runner_.end_case();
    if (failure.empty() && !end.violations.empty()) failure = end.violations.front();
    return failure.empty() ? end.broken : failure;
  }

  // Whether it is refused is checked elsewhere.
  void refuse(const Case& c) {
    if (runner_.table().memory_space != BACKGAUGE_HOST) return;
    (void)runner_.refuse({c.op, c.dtype, static_cast<std::uint64_t>(walk_.calls) % malformed_count(c.op, c.dtype)});
  }

  // The difference between a call's outputs and those of the first visit, or "". The first visit stores its outputs.
  static std::string compare(RunResult result, const CaseSession& session, std::vector<Output>& first) {
    if (const auto verdict = verdict_of_failed_run(result)) return verdict->reason;
    std::string difference;
    if (!first.empty() && repeats(session)) difference = first_difference(first, result.outputs);
    if (first.empty()) first = std::move(result.outputs);
    return difference.empty() ? "" : "other bits than in its first call: " + difference;
  }

  Runner& runner_;
  const WalkOptions& options_;
  std::deque<Station> stations_;  // which stay where they are: sessions refer to their problems
  Walk walk_;
};

}  // namespace

std::vector<Case> walk_configurations(const std::vector<backgauge_op>& ops, int count, std::uint64_t seed) {
  std::vector<Case> out;
  if (ops.empty()) return out;
  Configurations configurations(ops, seed, "walk");
  while (out.size() < static_cast<std::size_t>(count)) {
    switch (out.size() % 4) {
      case 2: out.push_back(configurations.sibling_of(out.back(), out.size() / 4)); break;
      case 3: out.push_back(configurations.with_other_values(out.back())); break;
      default: out.push_back(configurations.draw()); break;
    }
  }
  return out;
}

std::vector<int> walk_order(int count, int length, std::uint64_t seed) {
  Draws draws(seed, "walk_order");
  // A closed walk that uses every edge of the complete directed graph once (Hierholzer): leave along unused edges until
  // stuck, which can only happen at the start, and insert the unused edges on the way back.
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
