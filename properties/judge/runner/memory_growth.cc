// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/memory_growth.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>

#include "properties/judge/runner/threads.h"
#include "reference/contract/sanitized.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// The first part warms up. With calls of 0.1 ms there are 1,600 after it, so that 164 bytes a call are noticed; with
// the fewest calls 8 KiB are, half a tensor of the smallest layers that are trained.
constexpr int kParts = 5;
constexpr std::chrono::milliseconds kPart{40};
constexpr std::int64_t kFewestCalls = 8;
constexpr std::chrono::seconds kLongestMeasurement{5};

// 0 if the system does not say it.
std::int64_t resident_bytes() {
  std::int64_t all = 0, resident = 0;
  std::istringstream(kernel_text("/proc/self/statm")) >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

MemoryGrowth measure_memory_growth(const backgauge_implementation& implementation, const Problem& problem,
                                   std::span<const RawTensor> raw, const RunOptions& options) {
  MemoryGrowth out;
  const CallObserver observer;
  PlacedCall call(implementation, problem, raw, options, observer);
  if (!call.prepare()) {
    out.unmeasured = "prepare failed";
    return out;
  }
  if (kSanitized) out.unmeasured = "a sanitizer keeps memory that was freed";
  if (resident_bytes() == 0) out.unmeasured = "the system does not say how much memory a process holds";
  if (!out.unmeasured.empty()) return out;
  const auto function = traits_of(problem.op).gradient ? implementation.forward : implementation.run;
  backgauge_message message{};
  const auto one_call = [&] {
    backgauge_plan plan{};
    if (implementation.prepare != nullptr && implementation.prepare(&call.c(), &plan, &message) != BACKGAUGE_OK)
      return false;
    return function(&call.c(), &message) == BACKGAUGE_OK;
  };
  std::array<std::int64_t, kParts> resident{};
  bool good = true, in_time = true;
  call.guarded([&] {
    const auto begin = Clock::now();
    std::int64_t calls = 0;  // of one part: as many as the first one takes
    while (good && in_time && (calls < kFewestCalls || Clock::now() < begin + kPart)) {
      good = one_call();
      ++calls;
      in_time = Clock::now() < begin + kLongestMeasurement;
    }
    resident[0] = resident_bytes();
    for (std::size_t part = 1; part < kParts; ++part) {
      for (std::int64_t k = 0; good && in_time && k < calls; ++k) {
        good = one_call();
        in_time = Clock::now() < begin + kLongestMeasurement;
      }
      resident[part] = resident_bytes();
    }
    out.calls = (kParts - 1) * calls;
  });
  if (!good) out.fault = "it failed when the same call was repeated";
  if (good && !in_time) out.unmeasured = "calls take too long to repeat them often enough";
  if (!good || !in_time) return out;
  out.bytes = resident.back() - resident.front();
  out.throughout = true;
  for (std::size_t part = 1; part < kParts; ++part) {
    out.throughout = out.throughout && resident[part] > resident[part - 1];
  }
  return out;
}

}  // namespace backgauge
