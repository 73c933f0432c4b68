// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/determinism.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "properties/judge/compare/run_verdicts.h"

namespace backgauge {
namespace {

constexpr int kRepeats = 10;
// Even shares of rows and uneven ones; 16 and 33 are more threads than many calls have rows or units.
constexpr std::int32_t kThreads[] = {1, 2, 3, 16, 33};
constexpr std::byte kFills[] = {RunOptions::kNanFill, RunOptions::kFiniteFill};

}  // namespace

DeterminismMeter::DeterminismMeter(Runner& runner, const Problem& problem, std::uint64_t seed)
    : runner_(runner), session_(runner, problem), placement_(seed) {}

void DeterminismMeter::measure() {
  const bool made = !session_.has_forward() || make_forward();
  for (const std::int32_t threads : kThreads) {
    std::optional<Outputs> of_threads;
    for (const Placement& placement : {placement_, placement_.opposite()}) {
      for (const std::byte fill : kFills) {
        const RunOptions options{.num_threads = threads, .placement = placement, .workspace_fill = fill};
        if (!made || !repeat(options, of_threads)) {
          out_ = {};
          return;
        }
      }
    }
    if (!first_) first_ = of_threads;
    note(Determinism::kPerThreadCount, *first_, *of_threads, fmt::format(" with {} threads", threads));
  }
}

// Tuning at the start of a process, by timings or by addresses, is the same for all of its calls.
void DeterminismMeter::measure_in_another_process() {
  if (out_.runs == 0) return;
  const std::optional<Outputs> outputs =
      answer({.num_threads = kThreads[0], .placement = placement_, .workspace_fill = kFills[0]});
  runner_.end_case();
  if (outputs) {
    note(Determinism::kPerProcess, *first_, *outputs, " in another process");
  } else {
    out_ = {};
  }
}

// The outputs of the forward, from which every gradient starts.
bool DeterminismMeter::make_forward() {
  return !verdict_of_failed_run(session_.forward({.placement = placement_})).has_value();
}

// The outputs with one configuration: of the forward, if there is one, and of the gradient.
auto DeterminismMeter::answer(const RunOptions& options) -> std::optional<Outputs> {
  Outputs all;
  if (session_.has_forward()) {
    RunResult made = session_.repeat_forward(options);
    if (verdict_of_failed_run(made)) return std::nullopt;
    all = std::move(made.outputs);
  }
  RunResult result = session_.gradient(options);
  if (verdict_of_failed_run(result)) return std::nullopt;
  std::ranges::move(result.outputs, std::back_inserter(all));
  ++out_.runs;
  return all;
}

// False if a call fails. `of_threads`: the first outputs with this number of threads, if there are any.
bool DeterminismMeter::repeat(const RunOptions& options, std::optional<Outputs>& of_threads) {
  std::optional<Outputs> first;
  for (int k = 0; k < kRepeats; ++k) {
    std::optional<Outputs> outputs = answer(options);
    if (!outputs) return false;
    if (!first)
      first = std::move(outputs);
    else
      note(Determinism::kRunToRun, *first, *outputs, " from the same call");
  }
  runner_.end_case();
  if (!of_threads)
    of_threads = std::move(first);
  else
    note(Determinism::kPerMemoryPlacement, *of_threads, *first, " at other addresses");
  return true;
}

void DeterminismMeter::note(Determinism level, const Outputs& first, const Outputs& second, const std::string& when) {
  if (out_.measured >= level) return;
  const std::string difference = first_difference(first, second);
  if (difference.empty()) return;
  out_.measured = level;
  out_.difference = difference + when;
}

std::string_view determinism_word(Determinism determinism) {
  constexpr std::string_view kWords[] = {"bitwise", "per thread count", "per memory placement", "per process",
                                         "run to run"};
  return kWords[static_cast<int>(determinism)];
}

Repeats measure_determinism(Runner& runner, const Problem& problem, std::uint64_t seed) {
  DeterminismMeter meter(runner, problem, seed);
  meter.measure();
  runner.end_case();
  if (meter.repeats().runs > 0 && runner.renew()) meter.measure_in_another_process();
  return meter.repeats();
}

bool overclaims(backgauge_determinism claimed, Determinism measured) {
  switch (claimed) {
    case BACKGAUGE_BITWISE: return measured > Determinism::kBitwise;
    case BACKGAUGE_BITWISE_PER_THREAD_COUNT: return measured > Determinism::kPerThreadCount;
    case BACKGAUGE_NOT_DETERMINISTIC: return false;
  }
  return true;
}

}  // namespace backgauge
