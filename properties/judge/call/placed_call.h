// SPDX-License-Identifier: Apache-2.0
// One call in an arena of its own, in three steps: it is described (shapes, and seq_len_max, which prepare may read),
// prepared, and placed in memory.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "properties/judge/call/call_frame.h"
#include "properties/judge/call/invocation.h"
#include "properties/judge/call/run.h"
#include "properties/judge/memory/arena.h"
#include "properties/judge/memory/device_mirror.h"

namespace backgauge {

// The memory of a call: the arena with its tensors, its copy in device memory for an implementation that computes
// there, and the frames of the functions that were called.
struct CallMemory {
  std::unique_ptr<Arena> arena;
  std::unique_ptr<DeviceMirror> mirror;
  std::vector<std::unique_ptr<CallFrame>> frames;
};

class PlacedCall {
 public:
  // The arguments are those of run() and outlive the call. `memory_limit`: how much prepare may ask
  // for, as for add_plan_fault(). Throws std::invalid_argument for an op that has no table, and for a call that the
  // contract refuses.
  PlacedCall(const backgauge_implementation& implementation, const Problem& problem, std::span<const RawTensor> raw,
             const RunOptions& options, const CallObserver& observer, std::uint64_t memory_limit = 0);

  // Calls prepare, then places all tensors. False if no function can be called.
  bool prepare();

  // Calls a function of the implementation on the arena and a frame of its own. `answer`: what the function writes
  // besides outputs and message; `answer_name`: its name in violations.
  using Body = std::function<backgauge_status(const CallFrame&)>;
  void invoke_guarded(const char* function, const Body& body, std::span<std::byte> answer = {},
                      const char* answer_name = "");

  // For several calls: runs `body` while accesses to guard pages are recorded. refill() must come before every call
  // except the first. In device memory it restores the inputs that calls may change, and no more.
  void guarded(const std::function<void()>& body);
  void refill();

  // The result. The memory, if there is any, can be kept to look for late violations.
  RunResult finish();
  CallMemory take_memory() { return std::move(memory_); }

  const backgauge_call& c() const { return call_; }
  const RunResult& result() const { return result_; }

 private:
  struct Described {
    RawTensor raw;
    backgauge_dtype dtype;
    const std::vector<double>* values = nullptr;  // that raw.bytes are made from when the call is placed
  };
  static void encode_values(Described& input);

  void describe_inputs(std::span<const RawTensor> raw);
  void describe_outputs(std::int64_t reserve_length);
  void link();
  void place(const backgauge_plan& plan);
  void mirror();
  bool on_device() const { return implementation_.memory_space == BACKGAUGE_CUDA; }
  backgauge_memory_space space() const { return on_device() ? BACKGAUGE_CUDA : BACKGAUGE_HOST; }
  std::size_t shared_block(const Described& output) const;
  bool is_changed(const Described& input) const;  // whether the call may change it
  void invoke_in_frame(const char* function, const Body& body, std::span<std::byte> answer, const char* answer_name);
  void collect_outputs();

  const backgauge_implementation& implementation_;
  const RunOptions& options_;
  const CallObserver& observer_;
  const std::uint64_t memory_limit_;
  const Problem& problem_;
  const OpSpec* spec_;
  std::vector<Described> inputs_, outputs_;
  std::vector<backgauge_tensor> c_inputs_, c_outputs_;
  backgauge_call call_{};
  CallMemory memory_;
  std::vector<std::size_t> output_blocks_;  // of the arena
  RunResult result_;
};

}  // namespace backgauge
