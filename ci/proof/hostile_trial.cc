// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/hostile_trial.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "ci/run/implementation/load_implementation.h"
#include "properties/campaign/calls/crowd.h"
#include "properties/campaign/calls/memory_growths.h"
#include "properties/campaign/calls/thread_counts.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/determinism.h"
#include "properties/judge/judge.h"
#include "properties/judge/runner/refusals.h"
#include "properties/judge/worker/worker_runner.h"

namespace backgauge::cli {
namespace {

using saboteurs::Hostile;

// Small cases, each shape with several values, with enough elements to distinguish a dropout mask from none.
std::vector<Case> trial_cases() {
  std::vector<Case> cases;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
      for (const backgauge_op op : gradient_ops()) {
        Case c{.op = op, .T = 3, .B = 4, .I = 5, .H = 6, .seq_len_max = 2, .dtype = dtype, .seed = seed};
        c.use_peephole = true;  // if the op has peepholes
        if (traits_of(op).draws_masks) {
          c.T = 7;
          c.layers = 2;
          c.dropout = seed % 2 == 0 ? 0.5 : 0;
        }
        cases.push_back(c);
      }
    }
  }
  return cases;
}

backgauge_op sequence_op() {
  return *std::ranges::find_if(gradient_ops(), [](backgauge_op op) { return spec_of(op).has(Role::kLength); });
}

std::string text_of(const Verdict& verdict) {
  return fmt::format("{}: {}", verdict_word(verdict.status), verdict.reason);
}

bool as_expected(const Verdict& verdict, const Hostile& hostile) {
  if (hostile.verdict == Hostile::Verdict::kPassed) {
    return verdict.status == Status::kPassed || verdict.status == Status::kSkipped;
  }
  const Status wanted = hostile.verdict == Hostile::Verdict::kBroken ? Status::kBroken : Status::kFailed;
  return verdict.status == wanted && verdict.reason.find("harness") != 0 &&
         verdict.reason.find(hostile.reason) != std::string::npos;
}

HostileOutcome try_malformed(const Hostile& hostile) {
  constexpr std::size_t kStep = 7;  // every seventh of more than 360 calls of an op
  for (const backgauge_op op : gradient_ops()) {
    const Refusals answers = refusals(hostile.table, op, BACKGAUGE_FLOAT32, kStep);
    if (!answers.wrong.empty()) {
      return {true, fmt::format("FAILED: {}: {}", answers.wrong.front().call, answers.wrong.front().fault)};
    }
  }
  return {false, "every malformed call was refused"};
}

HostileOutcome try_at_once(const Hostile& hostile) {
  InProcessRunner runner(hostile.table);
  const Crowd together = crowd(runner, {.ops = gradient_ops()});
  return {as_expected(together.worst, hostile), text_of(together.worst)};
}

std::unique_ptr<Runner> worker_for(const Hostile& hostile) {
  return std::make_unique<WorkerRunner>(
      WorkerOptions{.implementation = std::string(kHostilePrefix) + hostile.id,
                    .timeout = std::chrono::seconds(2),  // for calls that take microseconds
                    .memory_limit = std::uint64_t{1} << 30});
}

std::unique_ptr<Runner> runner_for(const Hostile& hostile) {
  if (hostile.trial == Hostile::Trial::kWorker) return worker_for(hostile);
  return std::make_unique<InProcessRunner>(hostile.table);
}

// Legal cases first, which show that the misbehaviour is limited to refused calls.
HostileOutcome try_refused(const Hostile& hostile) {
  constexpr std::uint64_t kCalls = 40;  // more threads than a small machine lets a process start
  const std::unique_ptr<Runner> runner = worker_for(hostile);
  for (const Case& c : trial_cases()) {
    const Filled filled = fill(c);
    const Verdict verdict = judge_case(*runner, filled.problem, filled.facts, {.seed = c.seed});
    if (verdict.status != Status::kPassed) return {false, "a legal call is " + text_of(verdict)};
  }
  const std::uint64_t calls = kCalls + 4 * static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_CONF));
  const std::uint64_t all = malformed_count(sequence_op(), BACKGAUGE_FLOAT32);
  HostileOutcome outcome;
  for (std::uint64_t k = 0; k < calls && !outcome.detected; ++k) {
    const Verdict verdict = judge_refusal(*runner, {sequence_op(), BACKGAUGE_FLOAT32, k * all / calls});
    outcome = {as_expected(verdict, hostile), text_of(verdict)};
  }
  return outcome;
}

HostileOutcome try_threads(const Hostile& hostile) {
  const std::unique_ptr<Runner> runner = worker_for(hostile);
  const ThreadCounts counted = count_threads(*runner, {sequence_op()});
  Verdict verdict{Status::kPassed, "", {}};
  if (!counted.failure.empty()) verdict = {Status::kFailed, counted.failure, {}};
  if (counted.calls == 0 && counted.failure.empty()) verdict = {Status::kMistrusted, "nothing was measured", {}};
  return {as_expected(verdict, hostile), text_of(verdict)};
}

HostileOutcome try_memory(const Hostile& hostile) {
  const std::unique_ptr<Runner> runner = worker_for(hostile);
  const MemoryGrowths measured = measure_memory_growths(*runner, {sequence_op()});
  Verdict verdict{Status::kPassed, "", {}};
  if (!measured.failure.empty()) verdict = {Status::kFailed, measured.failure, {}};
  if (measured.calls == 0 && measured.failure.empty()) verdict = {Status::kMistrusted, "nothing was measured", {}};
  return {as_expected(verdict, hostile), text_of(verdict)};
}

HostileOutcome try_repeated(const Hostile& hostile) {
  const std::unique_ptr<Runner> runner = worker_for(hostile);
  const Case c = trial_cases()[3];
  const Filled filled = fill(c);
  const std::optional<Claims> claims = claims_of(runner->table(), c.op);
  const Repeats repeats = measure_determinism(*runner, filled.problem, c.seed);
  Verdict verdict{Status::kPassed, "", {}};
  if (overclaims(claims->determinism[c.dtype], repeats.measured)) {
    verdict = {Status::kFailed, repeats.difference, {}};
  }
  return {as_expected(verdict, hostile), text_of(verdict)};
}

}  // namespace

const std::vector<Hostile>& twins_of_hostile_ones() { return saboteurs::correct_twins(load_implementation("plain")); }

const std::vector<Hostile>& hostile_ones() { return saboteurs::hostile_implementations(load_implementation("plain")); }

HostileOutcome try_hostile(const Hostile& hostile) {
  if (hostile.trial == Hostile::Trial::kMalformed) return try_malformed(hostile);
  if (hostile.trial == Hostile::Trial::kRefused) return try_refused(hostile);
  if (hostile.trial == Hostile::Trial::kAtOnce) return try_at_once(hostile);
  if (hostile.trial == Hostile::Trial::kRepeated) return try_repeated(hostile);
  if (hostile.trial == Hostile::Trial::kThreads) return try_threads(hostile);
  if (hostile.trial == Hostile::Trial::kMemory) return try_memory(hostile);
  const bool is_twin = hostile.verdict == Hostile::Verdict::kPassed;
  // How many leaked threads it takes to be noticed depends on the machine: two calls and more per case, over several
  // rounds.
  const long rounds = 4 + sysconf(_SC_NPROCESSORS_CONF) / 16;
  HostileOutcome outcome;
  const std::unique_ptr<Runner> runner = runner_for(hostile);
  for (long round = 0; round < rounds; ++round) {
    for (const Case& c : trial_cases()) {
      const Filled filled = fill(c);
      const Verdict verdict = judge_case(*runner, filled.problem, filled.facts, {.seed = c.seed});
      outcome = {as_expected(verdict, hostile), text_of(verdict)};
      if (outcome.detected != is_twin) return outcome;
    }
  }
  return outcome;
}

}  // namespace backgauge::cli
