// SPDX-License-Identifier: Apache-2.0
// Law: four threads that call at once, two of them with each of two problems, get the bits that each call gives alone.
// Kind: exact.
// catches: state shared between calls, results or scratch in static memory, buffers kept by size or by address, tables
// filled on first use without a lock.
#include <array>
#include <exception>
#include <latch>
#include <thread>

#include "properties/judge/findings.h"
#include "properties/laws/answer.h"
#include "properties/laws/law.h"

namespace backgauge {
namespace {

constexpr std::size_t kThreads = 4;

// A call of a small case is shorter than the start of a thread: the threads meet first, and then call often enough to
// overlap.
constexpr int kCalls = 2;

Case about(Case c) { return c; }

std::string difference_in_calls(const backgauge_implementation& implementation, const Problem& problem,
                                const Answer& alone, const RunOptions& options) {
  for (int call = 0; call < kCalls; ++call) {
    const Answer again = answer(implementation, problem, options);
    if (again.problem.keep != alone.problem.keep) return "another dropout mask";
    if (std::string text = first_difference(alone.outputs, again.outputs); !text.empty()) return text;
  }
  return "";
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "repetition is not claimed"};
  }
  Case other = c;
  other.seed ^= 1;
  const std::array problems{filled(c).problem, filled(other).problem};
  const std::array alone{answer(implementation, problems[0]), answer(implementation, problems[1])};
  std::array<std::string, kThreads> texts;
  std::latch start(kThreads);
  std::vector<std::jthread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      RunOptions options;
      options.placement = Placement(c.seed + thread);
      start.arrive_and_wait();
      try {
        texts[thread] = difference_in_calls(implementation, problems[thread % 2], alone[thread % 2], options);
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
