// SPDX-License-Identifier: Apache-2.0
// Law: four threads that call at once, two of them with each of two problems, get the bits that each call gives alone.
// Kind: exact.
// catches: state shared between calls, results or scratch in static memory, buffers kept by size or by address, tables
// filled on first use without a lock.
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "properties/judge/findings.h"
#include "properties/laws/answer.h"
#include "properties/laws/law.h"

namespace backgauge {
namespace {

constexpr std::size_t kThreads = 4;

// A call of a small case is shorter than the start of a thread. So the threads meet inside of the call, as long as none
// is late by more than this, and repeat it for long enough that one is stopped within a call while another runs, once
// in 20 to 50 cases on a crowded machine.
constexpr std::chrono::microseconds kPatience{1000}, kOverlap{600};

Case about(Case c) { return c; }

// What the functions of the table that the threads call have to know.
struct Meeting {
  const backgauge_implementation* implementation;
  bool run_repeats;  // it does not if reserve_space, changed by a first run, would be another one for the second
  std::atomic<std::size_t> in_forward{0}, in_run{0};
};
thread_local Meeting* meeting = nullptr;
thread_local const Answer* alone = nullptr;

bool gave_what_it_gives_alone(const backgauge_call& call) {
  for (const Output& output : alone->outputs) {
    const backgauge_tensor* tensor = backgauge_find(call.outputs, call.num_outputs, output.raw.name.c_str());
    if (tensor == nullptr || output.raw.bytes.empty()) continue;
    if (std::memcmp(tensor->data, output.raw.bytes.data(), output.raw.bytes.size()) != 0) return false;
  }
  return true;
}

template <class Function>
backgauge_status together(Function function, std::atomic<std::size_t>& arrived, bool repeats,
                          const backgauge_call* call, backgauge_message* message) {
  using Clock = std::chrono::steady_clock;
  ++arrived;
  for (const auto begin = Clock::now(); arrived < kThreads && Clock::now() - begin < kPatience;) {
    std::this_thread::yield();
  }
  for (const auto begin = Clock::now();;) {
    const backgauge_status status = function(call, message);
    // Ends with the first call that differs, so that its outputs are what is found.
    if (status != BACKGAUGE_OK || !repeats || !gave_what_it_gives_alone(*call)) return status;
    if (Clock::now() - begin >= kOverlap) return status;
  }
}

backgauge_status forward_together(const backgauge_call* call, backgauge_message* message) {
  return together(meeting->implementation->forward, meeting->in_forward, true, call, message);
}

backgauge_status run_together(const backgauge_call* call, backgauge_message* message) {
  return together(meeting->implementation->run, meeting->in_run, meeting->run_repeats, call, message);
}

std::string difference_among_others(const backgauge_implementation& implementation, const Problem& problem,
                                    const RunOptions& options) {
  backgauge_implementation table = implementation;
  table.run = run_together;
  if (implementation.forward != nullptr) table.forward = forward_together;
  const Answer got = answer(table, problem, options);
  if (got.problem.keep != alone->problem.keep) return "another dropout mask";
  return first_difference(alone->outputs, got.outputs);
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const backgauge_op_claims& claims = *claims_of(implementation, c.op);
  if (claims.determinism == BACKGAUGE_NOT_DETERMINISTIC) return {Outcome::kSaysNothing, "repetition is not claimed"};
  Case other = c;
  other.seed ^= 1;
  const std::array problems{filled(c).problem, filled(other).problem};
  const std::array answers{answer(implementation, problems[0]), answer(implementation, problems[1])};
  Meeting here{.implementation = &implementation, .run_repeats = claims.changes_reserve_space == 0};
  std::array<std::string, kThreads> texts;
  std::vector<std::jthread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      meeting = &here;
      alone = &answers[thread % 2];
      RunOptions options;
      options.placement = Placement(c.seed + thread);
      try {
        texts[thread] = difference_among_others(implementation, problems[thread % 2], options);
      } catch (const std::exception& error) {
        texts[thread] = error.what();
      }
    });
  }
  threads.clear();
  for (const std::string& text : texts) {
    if (!text.empty()) return {Outcome::kBroken, "while others call: " + text};
  }
  return {Outcome::kHolds, ""};
}

}  // namespace

Law concurrent_calls_agree() {
  return {"M22",   "ConcurrentCallsAgree", "calls that run at once give the bits that each gives alone",
          kAllOps, Sizes::kSmall,          about,
          check};
}

}  // namespace backgauge
