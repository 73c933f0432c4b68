// SPDX-License-Identifier: Apache-2.0
#include "ci/run/judge/judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "ci/run/plan/preflight.h"
#include "ci/run/plan/redraw.h"
#include "ci/run/process/crash_report.h"
#include "ci/run/process/interrupt.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/judge.h"
#include "properties/judge/runner/refusals.h"

namespace backgauge::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Between two looks at whether another process is worth its start. That of a built-in implementation takes 20 ms (two
// cores of an AMD EPYC), and of others longer.
constexpr std::chrono::milliseconds kPace{5};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Record record_of(const Case& c, std::string_view name, std::string_view version) {
  Record record;
  record.id = to_string(c);
  record.op = std::string(find_op(c.op)->word);
  record.impl_name = printable(name, kShownOfName);
  record.impl_version = printable(version, kShownOfName);
  return record;
}

Verdict broken_harness(const std::string& text) { return {Status::kBroken, "harness: " + text, {}}; }

Verdict judge_filled(Runner& runner, const Case& c, const Filled& filled, int num_threads) {
  if (!filled.error.empty()) return broken_harness(filled.error);
  return judge_case(runner, filled.problem, filled.facts,
                    {.seed = placement_seed(c, filled), .num_threads = num_threads});
}

Record judge_with_redraws(Runner& runner, Case c, const JudgingOptions& options) {
  Record record = judge_line(runner, c, options.num_threads);
  const bool drawn = options.redraw && may_be_redrawn(c);
  for (int redraws = 1; drawn && record.verdict.status == Status::kMistrusted && redraws <= kMostRedraws; ++redraws) {
    c = redrawn(c, redraws);
    record = judge_line(runner, c, options.num_threads);
    record.redraws = redraws;
  }
  return record;
}

}  // namespace

std::uint64_t placement_seed(const Case& c, const Filled& filled) {
  return c.data == DataProfile::kGolden ? filled.checksum : c.seed;
}

Verdict judge_malformed(Runner& runner, const Case& c) {
  const std::uint64_t count = malformed_case_count(c.op, c.dtype);
  if (c.seed < count) return judge_refusal(runner, malformed_of_case(c.op, c.dtype, c.seed));
  return broken_harness(fmt::format("data=malformed:{:#x}: {} {} has {:#x} malformed calls", c.seed,
                                    find_op(c.op)->word, dtype_word(c.dtype), count));
}

Record judge_line(Runner& runner, const Case& c, int num_threads) {
  const Clock::time_point start = Clock::now();
  Record record = record_of(c, runner.table().name, runner.table().version);
  record.isolated = runner.isolated();
  const InFlight in_flight(record.id);
  if (c.data == DataProfile::kMalformed) {
    record.verdict = judge_malformed(runner, c);
    record.ms = milliseconds_since(start);
    return record;
  }
  try {
    if (const std::string why = lack_of_memory(c); !why.empty()) throw std::runtime_error(why);
    const Filled filled = fill(c);
    if (filled.error.empty() && c.data != DataProfile::kGolden) {
      Case with_checksum = c;
      with_checksum.checksum = filled.checksum;
      record.id = to_string(with_checksum);
    }
    record.verdict = judge_filled(runner, c, filled, num_threads);
  } catch (const std::exception& error) {  // std::bad_alloc: the inputs are too large for this machine
    record.verdict = broken_harness(error.what());
  }
  record.ms = milliseconds_since(start);
  return record;
}

StoredOutputs::StoredOutputs(const GoldenData& data)
    : problem(data.problem), declared(data.declared), expected(data.facts) {
  for (const std::vector<Tensor>* stored : {&data.forward, &data.outputs}) {
    for (const Tensor& tensor : *stored) given.push_back({tensor.name, tensor.shape, problem.dtype, tensor.values});
  }
}

Record judge_golden_producer(const Case& golden) {
  const Clock::time_point start = Clock::now();
  Record record = record_of(golden, "golden", "");
  GoldenData data;
  std::string error;
  record.verdict = find_golden(golden, data, error) ? StoredOutputs(data).judge() : broken_harness(error);
  record.ms = milliseconds_since(start);
  return record;
}

void judge_all(Candidate& candidate, const std::vector<Case>& cases, const JudgingOptions& options,
               const std::function<bool(const Record&)>& sink) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::size_t, Record> waiting;  // judged before it was their turn to be reported
  std::size_t next = 0, judged = 0;
  bool stop = false;
  std::exception_ptr trouble;  // thrown by options.ended, or where a process did not start
  const Clock::time_point begin = Clock::now();
  const auto halted = [&options] { return interrupted() || Clock::now() >= options.deadline; };
  const auto all_begun = [&] { return stop || halted() || next == cases.size(); };
  // Whether another process saves time, at the pace until now: at most half of what is left after its start.
  const auto worth_a_start = [&] {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const double pace = seconds / static_cast<double>(std::max<std::size_t>(1, judged));
    return pace * static_cast<double>(cases.size() - next) > 2 * candidate.seconds_to_start();
  };

  const auto serve = [&](std::size_t worker) {
    if (worker > 0) {
      std::unique_lock lock(mutex);
      while (!all_begun() && !worth_a_start()) {
        lock.unlock();
        std::this_thread::sleep_for(kPace);
        lock.lock();
      }
      if (all_begun()) return;
    }
    Runner& runner = candidate.runner(worker);
    for (;;) {
      std::size_t mine;
      {
        const std::lock_guard lock(mutex);
        if (all_begun()) return;
        mine = next++;
      }
      Record record = judge_with_redraws(runner, cases[mine], options);
      const std::lock_guard lock(mutex);
      if (cut_short()) return;
      ++judged;
      try {
        if (options.ended && !trouble) options.ended(mine, record);
      } catch (...) {
        trouble = std::current_exception();
        stop = true;
      }
      waiting.emplace(mine, std::move(record));
      arrived.notify_one();
    }
  };
  const auto work = [&](std::size_t worker) {
    try {
      serve(worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!trouble) trouble = std::current_exception();
      stop = true;
    }
  };
  std::vector<std::jthread> workers;
  for (int k = 0; k < options.workers; ++k) workers.emplace_back(work, static_cast<std::size_t>(k));

  for (std::size_t turn = 0; turn < cases.size(); ++turn) {
    std::unique_lock lock(mutex);
    // Also wakes up periodically, to notice an interrupt while no case ends.
    while (!trouble && !cut_short() && waiting.find(turn) == waiting.end() && !(halted() && turn >= next)) {
      arrived.wait_for(lock, std::chrono::milliseconds(100));
    }
    if (trouble) std::rethrow_exception(trouble);
    const auto found = waiting.find(turn);
    if (found == waiting.end()) return;
    const Record record = std::move(found->second);
    waiting.erase(found);
    lock.unlock();
    if (!sink(record)) {
      lock.lock();
      stop = true;
      return;
    }
  }
}

}  // namespace backgauge::cli
