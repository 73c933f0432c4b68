// SPDX-License-Identifier: Apache-2.0
// Queues on the processor: their work is stored, and done when the Work finishes, in an order that the waits between
// queues allow. Works alternate between two orders, side queues first and main queue first; so do the blocks of a
// kernel and the threads of a block, first to last and last to first. Memory with undefined contents holds NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "impl/call_error.h"
#include "impl/cuda/device/kernel.h"

namespace backgauge::cuda {

inline constexpr backgauge_memory_space kMemorySpace = BACKGAUGE_HOST;
inline constexpr std::int64_t kProductScratchBytes = 256;
// Steps of a graph: few, so that short sequences have several chunks.
inline constexpr int kGraphSteps = 4;
// Elements of a launch from which on its blocks take more of them each: few, so that small cases of the tests go both
// ways.
inline constexpr std::int64_t kManyElements = 1 << 15;
// Bytes between two arrays of a workspace, which must not change.
inline constexpr std::int64_t kGuardBytes = 64;

// A NaN in every type, an invalid address, and an invalid step number.
inline constexpr int kPoison = 0xff;

struct Stream {
  struct Wait {
    const Stream* on;
    std::size_t entries;  // of it
  };
  using Action = std::function<void(bool backwards)>;
  std::vector<std::variant<Action, Wait>> entries;

  void add(Action action) { entries.emplace_back(std::move(action)); }
};

// Ready when the work before the last record() has ended, in the thread of its call.
struct EventState {
  std::shared_future<void> done;
};

// Runs everything in the streams; if `backwards`, later streams first where the order is free.
void do_all(std::span<const Stream> streams, bool backwards);
// Throws if another stream has work that the first does not wait for.
void expect_joined(std::span<const Stream> streams);

template <class Kernel, int kPhase = 0>
void run_phases(std::int64_t block, const Kernel& kernel, typename Kernel::Shared& shared,
                typename Kernel::Local* locals, bool backwards) {
  for (int k = 0; k < Kernel::kThreads; ++k) {
    const int index = backwards ? Kernel::kThreads - 1 - k : k;
    kernel.template run<kPhase>(Thread{index, block}, shared, locals[index]);
  }
  if constexpr (kPhase + 1 < Kernel::kPhases) {
    run_phases<Kernel, kPhase + 1>(block, kernel, shared, locals, backwards);
  }
}

template <class Kernel>
void run_blocks(std::int64_t blocks, const Kernel& kernel, bool backwards) {
  using Shared = typename Kernel::Shared;
  using Local = typename Kernel::Local;
  static_assert(std::is_trivially_copyable_v<Shared> && std::is_trivially_copyable_v<Local>);
  std::vector<Shared> shared(1);
  std::vector<Local> locals(Kernel::kThreads);
  for (std::int64_t k = 0; k < blocks; ++k) {
    std::memset(static_cast<void*>(shared.data()), kPoison, sizeof(Shared));
    std::memset(static_cast<void*>(locals.data()), kPoison, sizeof(Local) * locals.size());
    run_phases(backwards ? blocks - 1 - k : k, kernel, shared.front(), locals.data(), backwards);
  }
}

template <class Kernel>
void launch_on(Stream& stream, std::int64_t blocks, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && sizeof(Kernel) <= 4096, "what CUDA takes as a parameter");
  static_assert(sizeof(typename Kernel::Shared) <= 48 * 1024 && Kernel::kThreads <= 1024, "what a block may have");
  constexpr std::int64_t kMostBlocks = INT32_MAX;
  if (blocks > kMostBlocks) throw CallError(BACKGAUGE_UNSUPPORTED, "more than 2^31 - 1 blocks of a kernel");
  stream.add([=](bool backwards) { run_blocks(blocks, kernel, backwards); });
}

}  // namespace backgauge::cuda
