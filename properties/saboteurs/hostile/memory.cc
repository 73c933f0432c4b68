// SPDX-License-Identifier: Apache-2.0
// Returns earlier results again, and uses old contents of outputs and workspace.
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

backgauge_status right_at_first(Call call, Message message) {
  static std::atomic<int> calls{0};
  constexpr int kGood = 16;
  return after_right(call, message, [=] {
    if (++calls > kGood) spoil(*call);
  });
}

// Two calls, so that a judge that runs each case twice sees nothing in the first case of a shape.
backgauge_status right_at_first_per_shape(Call call, Message message) {
  static std::mutex mutex;
  static std::map<std::uint64_t, int> calls;
  return after_right(call, message, [=] {
    const std::lock_guard lock(mutex);
    if (++calls[shape_key(*call)] > 2) spoil(*call);
  });
}

// Returns the outputs stored under the key of a call, if there are any, and stores them otherwise.
template <class Key>
backgauge_status from_cache(Key key_of, Call call, Message message) {
  static std::mutex mutex;
  static std::map<std::uint64_t, std::vector<std::vector<unsigned char>>> kept;
  return after_right(call, message, [&] {
    const std::lock_guard lock(mutex);
    const auto [place, is_new] = kept.try_emplace(key_of(*call));
    if (is_new) place->second = outputs_of(*call);
    give(*call, place->second);
  });
}

backgauge_status caches_by_shape(Call call, Message message) {
  return from_cache([](const backgauge_call& c) { return shape_key(c); }, call, message);
}

// Identifies inputs by address instead of contents: by the page of the first input.
backgauge_status caches_by_pointer(Call call, Message message) {
  constexpr std::uintptr_t kPage = 4096;
  return from_cache(
      [](const backgauge_call& c) {
        return shape_key(c) ^ reinterpret_cast<std::uintptr_t>(c.inputs[0].data) / kPage * 0x9e3779b97f4a7c15u;
      },
      call, message);
}

// Returns each result one call late.
backgauge_status gives_the_last_answer(Call call, Message message) {
  static std::mutex mutex;
  static std::map<std::uint64_t, std::vector<std::vector<unsigned char>>> last;
  return after_right(call, message, [=] {
    const std::lock_guard lock(mutex);
    std::vector<std::vector<unsigned char>>& kept = last[shape_key(*call)];
    std::vector<std::vector<unsigned char>> now = outputs_of(*call);
    give(*call, kept);
    kept = std::move(now);
  });
}

// `join` combines the old contents of an element and its correct value.
template <class Join>
backgauge_status over_what_was_there(Join join, Call call, Message message) {
  std::vector<double> before;  // of all outputs
  for_outputs(*call, [&](const backgauge_tensor& tensor, unsigned char*) {
    for (std::int64_t k = 0; k < backgauge_elements(&tensor); ++k) before.push_back(element(tensor, k));
  });
  return with_elements(call, message,
                       [&, k = std::size_t{0}](double value) mutable { return join(before[k++], value); });
}

backgauge_status accumulates(Call call, Message message) {
  return over_what_was_there([](double before, double value) { return before + value; }, call, message);
}

// Wrong only if the old contents are numbers: outputs that start as NaN do not show it.
backgauge_status accumulates_numbers(Call call, Message message) {
  return over_what_was_there([](double before, double value) { return std::isfinite(before) ? before + value : value; },
                             call, message);
}

// A kilobyte for each call, which is never released.
backgauge_status leaks(Call call, Message message) {
  static std::mutex mutex;
  static std::vector<std::vector<unsigned char>> lost;
  constexpr std::size_t kBytes = 1024;
  return after_right(call, message, [&] {
    const std::lock_guard lock(mutex);
    lost.emplace_back(kBytes, static_cast<unsigned char>(1));
  });
}

// As much for each call as leaks() takes, of the first calls only.
backgauge_status fills_a_cache(Call call, Message message) {
  static std::mutex mutex;
  static std::vector<std::vector<unsigned char>> kept;
  constexpr std::size_t kBytes = 1024, kMost = 16;
  return after_right(call, message, [&] {
    const std::lock_guard lock(mutex);
    if (kept.size() < kMost) kept.emplace_back(kBytes, static_cast<unsigned char>(1));
  });
}

constexpr std::uint64_t kWorkspace = 64;

backgauge_status prepare_with_workspace(Call call, backgauge_plan* plan, Message message) {
  const backgauge_status status = correct().prepare(call, plan, message);
  if (status == BACKGAUGE_OK && plan->workspace_bytes < kWorkspace) plan->workspace_bytes = kWorkspace;
  return status;
}

float first_of_workspace(const backgauge_call& call) {
  float value = 0;
  if (call.workspace_bytes >= kWorkspace) std::memcpy(&value, call.workspace, sizeof value);
  return value;
}

// 0 * NaN is not 0.
backgauge_status multiplies_workspace_by_zero(Call call, Message message) {
  const float zero = 0 * first_of_workspace(*call);
  return with_more(call, message, static_cast<double>(zero));
}

backgauge_status drops_nan_of_workspace(Call call, Message message) {
  const float there = first_of_workspace(*call);
  return std::isnan(there) ? right(call, message) : with_more(call, message, static_cast<double>(there));
}

}  // namespace

std::vector<Misbehaviour> memory_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"right_at_first", "correct for 16 calls, then wrong", kCases, kFailed, "elements wrong", right_at_first},
      {"right_at_first_per_shape", "correct for the first two calls of each shape", kCases, kFailed, "elements wrong",
       right_at_first_per_shape},
      {"caches_by_shape", "computes once per shape", kCases, kFailed, "elements wrong", caches_by_shape},
      {"caches_by_pointer", "computes once per buffer", kCases, kFailed, "elements wrong", caches_by_pointer},
      {"gives_the_last_answer", "returns the results of the previous call", kCases, kFailed, "", gives_the_last_answer},
      {"accumulates", "adds to the old contents of the outputs", kCases, kFailed,
       "the result was added to what was there before the call", accumulates},
      {"accumulates_numbers", "adds to the old contents of the outputs, if they are numbers", kCases, kFailed,
       "not repeatable", accumulates_numbers},
      {"leaks", "loses a kilobyte with each call", kMemory, kFailed, "resident memory grows by", leaks},
      {"fills_a_cache", "keeps a kilobyte of each of its first 16 calls", kMemory, kPassed, "", fills_a_cache},
      {"multiplies_workspace_by_zero", "adds 0 times the old contents of the workspace", kCases, kFailed, "nan",
       multiplies_workspace_by_zero, prepare_with_workspace},
      {"drops_nan_of_workspace", "adds the old contents of the workspace, if they are a number", kCases, kFailed,
       "not repeatable", drops_nan_of_workspace, prepare_with_workspace},
  };
}

}  // namespace backgauge::saboteurs
