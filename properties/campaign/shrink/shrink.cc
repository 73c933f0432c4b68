// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/shrink/shrink.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "properties/case/line/simpler.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

Case itself(Case c) { return c; }

// The number of seeds tried for each shape: a fault in one element of a thousand rarely shows with the first values.
constexpr std::uint64_t kSeeds = 4;

// A correct implementation would have PASSED, not been MISTRUSTED: a case kept as a regression must be able to pass.
bool proves(const Verdict& verdict) { return std::ranges::none_of(verdict.tensors, &TensorReport::vacuous); }

class Shrinker {
 public:
  Shrinker(const Case& c, const std::string& failure, const std::function<Verdict(const Case&)>& judge,
           const ShrinkLimits& limits, const std::function<bool()>& stop)
      : failure_(failure), judge_(judge), limits_(limits), stop_(stop), out_{.plainest = c} {}

  Shrunk run() {
    const Clock::time_point start = Clock::now();
    deadline_ = start + limits_.time;
    const std::optional<Verdict> again = judged(out_.plainest);
    if (again && failure_of(*again) == failure_) {
      must_prove_ = proves(*again);
      while (step()) {
      }
    } else {
      out_.flaky = again.has_value();
    }
    out_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return out_;
  }

 private:
  // nullopt at a limit.
  std::optional<Verdict> judged(const Case& c) {
    if (out_.executions >= limits_.executions || Clock::now() >= deadline_ || stop_()) {
      out_.finished = false;
      return std::nullopt;
    }
    ++out_.executions;
    return judge_(c);
  }

  // Accepts a case if it is simpler than the best so far, has not been tried, and fails in the same way.
  bool accept(const Case& c) {
    if (!out_.finished || complexity(c) >= complexity(out_.plainest)) return false;
    if (!tried_.insert(to_string(c)).second) return false;
    const std::optional<Verdict> verdict = judged(c);
    if (!verdict || failure_of(*verdict) != failure_ || (must_prove_ && !proves(*verdict))) return false;
    out_.plainest = c;
    return true;
  }

  bool accept_with_some_seed(Case c) {
    for (c.seed = 0; c.seed < kSeeds; ++c.seed) {
      if (accept(c)) return true;
    }
    return false;
  }

  // Tries small cases directly: each dimension at most 1, then 2, then 3, and everything else unchanged.
  bool leap() {
    for (const std::int64_t most : {1, 2, 3}) {
      Case c = out_.plainest;
      c.checksum.reset();
      c.golden.clear();
      c.data = DataProfile::kPlain;
      const std::int64_t behind = c.T - c.seq_len_max;
      for (std::int64_t Case::*dim : {&Case::T, &Case::B, &Case::I, &Case::H, &Case::layers}) {
        c.*dim = std::min(c.*dim, most);
      }
      set_steps(c, c.T, std::clamp<std::int64_t>(c.T - behind, 0, c.T));
      if (accept_with_some_seed(c)) return true;
      c.data = DataProfile::kStratified;
      if (accept_with_some_seed(c)) return true;
    }
    return false;
  }

  bool step() {
    if (!leapt_) {
      leapt_ = true;
      if (leap()) return true;
    }
    const std::vector<Case> candidates = simpler(out_.plainest, itself);
    return std::ranges::any_of(candidates, [this](const Case& c) { return accept(c); }) ||
           std::ranges::any_of(candidates, [this](const Case& c) { return accept_with_some_seed(c); });
  }

  const std::string& failure_;
  const std::function<Verdict(const Case&)>& judge_;
  const ShrinkLimits& limits_;
  const std::function<bool()>& stop_;
  Clock::time_point deadline_;
  std::set<std::string> tried_;
  bool leapt_ = false, must_prove_ = true;
  Shrunk out_;
};

}  // namespace

Shrunk shrink(const Case& c, const std::string& failure, const std::function<Verdict(const Case&)>& judge,
              const ShrinkLimits& limits, const std::function<bool()>& stop) {
  return Shrinker(c, failure, judge, limits, stop).run();
}

}  // namespace backgauge
