// SPDX-License-Identifier: Apache-2.0
#include "perf/run/abi_contestant.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

#include "perf/meter/doorbell.h"
#include "perf/workload/variation.h"
#include "properties/device/runtime.h"
#include "properties/judge/adjoint/mask_free_reference.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/judge.h"
#include "properties/judge/runner/case_session.h"
#include "reference/contract/dtypes.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

Verdict judged(Runner& runner, const WorkloadInputs& workload_inputs, const Problem& problem,
               ExpectedOutputs& expected) {
  JudgeOptions options;
  options.seed = workload_inputs.c.seed;
  options.num_threads = workload_inputs.options.threads;
  options.expected = &expected;
  return judge_case(runner, problem, workload_inputs.filled.facts, options);
}

// Each watched call is prepared, which takes longer than a short call itself.
constexpr std::int64_t kMostWatched = 2000;

// How often a sample whose clocks disagree is repeated: a busy machine can delay a process in more ways than the kernel
// counts. Each repeat watches twice as many calls, since a delay of the machine is missing in one of many, and one that
// the process makes is in all; from samples of half of kLongRepeat on, the number stays.
constexpr int kMostRepeats = 12;
constexpr std::chrono::milliseconds kLongRepeat{500};

// What a sample has computed is judged by an oracle of its own. Of workloads for which that takes longer than this, a
// share of the samples is, so that on average it takes no longer. The process cannot know which.
constexpr std::chrono::duration<double> kOracle{1};

// A process that says something wrong in every sample has FAILED. If the two could hear of each other so late on this
// machine, as busy as it is, the process may be honest: its times are not confirmed, and do not count.
[[noreturn]] void reject(const ClockDispute& dispute) {
  const double latest = longest_turn();
  if (dispute.seconds > latest) throw ContestantError(dispute.text, Status::kFailed);
  throw ContestantError(fmt::format("not timed: {}; two processes here hear of each other up to {:.3g} us late",
                                    dispute.text, 1e6 * latest),
                        Status::kMistrusted);
}

class TableLaunch : public Launch {
 public:
  TableLaunch(Runner& runner, WorkloadInputs& workload_inputs, std::unique_ptr<Session> session)
      : runner_(runner), workload_inputs_(workload_inputs), session_(std::move(session)) {}

  Loaded loaded() const override { return session_->loaded(); }
  // Where samples are watched, each call has a turn of its own.
  void turn(std::uint64_t seed) override {
    if (!workload_inputs_.options.watched) take_turn(seed);
  }
  Timing time(std::int64_t calls) override {
    return workload_inputs_.options.watched ? watched(calls) : session_->time(calls);
  }
  void pause() override { session_->pause(); }
  void resume() override { session_->resume(); }
  int process() const override { return session_->process(); }

  void take_turn(std::uint64_t seed) {
    session_->turn(seed);
    last_seed_ = seed;
  }

  // What one of the calls has computed is judged before its time counts. Calls of any number are as long as one of
  // kMostWatched.
  Timing watched(std::int64_t calls) {
    std::int64_t made = std::min(calls, kMostWatched);
    auto begin = Clock::now();
    Observation seen = session_->observe(made);
    std::optional<ClockDispute> least = seen.clocks;
    for (int again = 1; seen.clocks; ++again) {
      if (seen.clocks->seconds < least->seconds) least = seen.clocks;
      if (again == kMostRepeats) {
        // Wrong outputs are wrong whatever the clocks say.
        require_right_outputs(seen);
        reject(*least);
      }
      if (2 * (Clock::now() - begin) < kLongRepeat) made = std::min(2 * made, kMostWatched);
      begin = Clock::now();
      seen = session_->observe(made);
    }
    if (is_judged()) require_right_outputs(seen);
    last_seed_ = seen.last_seed;
    const double share = static_cast<double>(calls) / static_cast<double>(made);
    return {seen.timing.seconds * share, seen.timing.cpu_seconds * share};
  }

  // First the outputs of the last timed call: an implementation that does nothing has left outputs of other inputs.
  // Then those of a call whose outputs were poisoned before.
  Verdict judge() override try {
    if (last_seed_) look_at(*last_seed_);
    Verdict verdict;
    for (const bool again : {false, true}) {
      Computed computed = session_->computed(again);
      verdict = computed.masks_unavailable ? compare_with_judged(computed.outputs) : compare(std::move(computed));
      if (verdict.status == Status::kFailed || verdict.status == Status::kBroken) break;
    }
    return verdict;
  } catch (const ContestantError& error) {
    return {error.status, error.what(), {}};
  }

 private:
  // The inputs of a turn: those of the workload with the digits and the signs of its seed.
  struct Turned {
    std::uint64_t seed;
    Signs signs;
    std::optional<Problem> fresh;  // with the digits, but not the signs; nullopt: the digits are those of the workload
    ExpectedOutputs expected;      // of `fresh`
  };

  void look_at(std::uint64_t seed) {
    if (turned_ && turned_->seed == seed) return;
    const Filled& filled = workload_inputs_.filled;
    Variation variation(filled.problem, workload_inputs_.options.digits(), seed);
    turned_.emplace(seed, std::move(variation.signs), std::nullopt, ExpectedOutputs(filled.facts));
    if (variation.digits) turned_->fresh = variation.digits->in(filled.problem);
  }

  const Problem& inputs() const {
    return turned_ && turned_->fresh ? *turned_->fresh : workload_inputs_.filled.problem;
  }
  ExpectedOutputs& right_outputs() { return turned_ && turned_->fresh ? turned_->expected : workload_inputs_.expected; }

  bool is_judged() {
    if (oracle_ <= kOracle) return true;
    return std::uniform_real_distribution<double>(0, oracle_.count())(random_) < kOracle.count();
  }

  // Of the call that was taken. Without its masks nothing that was timed can be judged.
  void require_right_outputs(Observation& seen) {
    if (seen.computed.masks_unavailable) {
      throw ContestantError("not timed: its dropout masks are not available, so that no timed call can be judged",
                            Status::kMistrusted);
    }
    const auto begin = Clock::now();
    look_at(seen.seed);
    const Verdict verdict = compare(std::move(seen.computed));
    oracle_ = Clock::now() - begin;
    if (verdict.status == Status::kFailed) throw ContestantError("in a timed call: " + verdict.reason, Status::kFailed);
  }

  Declared declared_here() const {
    const Problem& of_workload = workload_inputs_.filled.problem;
    return declared(*claims_of(runner_.table(), of_workload.op), of_workload.dtype);
  }

  // With the signs of the workload itself, for which outputs are expected.
  Verdict compare(Computed computed) {
    if (turned_) {
      for (GivenTensor& output : computed.outputs) turned_->signs.apply(output.name, output.values);
    }
    const auto judged_with = [&](const Problem& masked) {
      return judge_outputs(right_outputs(), masked, computed.outputs, declared_here());
    };
    // Tensors may be large, so that they are copied only where other masks belong to them.
    if (computed.keep == inputs().keep) return judged_with(inputs());
    Problem with_masks = inputs();
    with_masks.keep = std::move(computed.keep);
    return judged_with(with_masks);
  }

  // If masks are not available, the judge calls the implementation on the inputs that were timed last. The outputs
  // computed here must equal those, because masks are a function of the seeds.
  Verdict compare_with_judged(const std::vector<GivenTensor>& outputs) {
    Problem problem = inputs();
    if (turned_) {
      for (Tensor& input : problem.inputs) turned_->signs.apply(input.name, input.values);
    }
    ExpectedOutputs expected(workload_inputs_.filled.facts);
    Verdict verdict = judged(runner_, workload_inputs_, problem, expected);
    if (verdict.status != Status::kPassed) return verdict;
    CaseSession session(runner_, problem, workload_inputs_.filled.facts);
    RunOptions options;
    options.num_threads = workload_inputs_.options.threads;
    session.forward(options);
    const RunResult seen = session.gradient(options);
    runner_.end_case();
    // A deterministic implementation repeats the judged bits; with any other, both answers may have errors.
    std::vector<std::vector<double>> errors;
    double relative = 0, least = 0;  // the largest change of a value when it is stored
    if (!session.repeats()) {
      errors = mask_free_reference(problem, expected, declared_here(), workload_inputs_.c.seed).gradient_errors;
      relative = float_format(problem.dtype).unit_roundoff;
      least = float_format(problem.dtype).least_positive;
    } else {
      for (const Output& output : seen.outputs) errors.emplace_back(output.values.size(), 0.0);
    }
    for (const Output& output : seen.outputs) {
      const auto given = std::ranges::find(outputs, output.raw.name, &GivenTensor::name);
      const std::size_t place = static_cast<std::size_t>(&output - seen.outputs.data());
      if (given == outputs.end() || given->values.size() != output.values.size()) {
        return failed(output.raw.name + " is missing");
      }
      for (std::size_t k = 0; k < output.values.size(); ++k) {
        const double here = given->values[k], there = output.values[k];
        const double apart = 2 * errors[place][k] + relative * (std::fabs(here) + std::fabs(there)) + least;
        if (here == there || (std::isnan(here) && std::isnan(there)) || std::fabs(here - there) <= apart) continue;
        return failed(
            fmt::format("{}[{}]: got {}, but the same call gave the judge {}; dropout masks are not available",
                        output.raw.name, k, here, there));
      }
    }
    if (seen.outputs.empty()) return failed("the judge got no outputs: " + seen.broken + seen.message);
    return verdict;
  }

  Runner& runner_;
  WorkloadInputs& workload_inputs_;
  std::unique_ptr<Session> session_;
  std::optional<std::uint64_t> last_seed_;  // of the turn of the last timed call
  std::optional<Turned> turned_;            // of the call that is judged
  std::chrono::duration<double> oracle_{0};
  std::mt19937_64 random_{std::random_device()()};
};

}  // namespace

AbiContestant::AbiContestant(std::string name, Runner& runner, Open open)
    : name_(std::move(name)), version_(runner.table().version), runner_(runner), open_(std::move(open)) {
  runner_.renew();
}

Verdict AbiContestant::judge(WorkloadInputs& workload_inputs) {
  Verdict verdict = judged(runner_, workload_inputs, workload_inputs.filled.problem, workload_inputs.expected);
  runner_.renew();  // its process, where threads may spin, is not one of those that are timed
  return verdict;
}

std::optional<Verdict> AbiContestant::refuse(WorkloadInputs& workload_inputs) {
  if (!on_cpu() && !device::absence().empty()) return Verdict{Status::kSkipped, device::absence(), {}};
  const Problem& problem = workload_inputs.filled.problem;
  std::string reason = unclaimed(claims_of(runner_.table(), problem.op), problem, workload_inputs.filled.facts);
  if (reason.empty()) return std::nullopt;
  return Verdict{Status::kSkipped, std::move(reason), {}};
}

std::unique_ptr<Launch> AbiContestant::launch(WorkloadInputs& workload_inputs) {
  return std::make_unique<TableLaunch>(runner_, workload_inputs,
                                       open_(workload_inputs.filled.problem, workload_inputs.options));
}

}  // namespace backgauge
