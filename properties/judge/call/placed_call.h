// SPDX-License-Identifier: Apache-2.0
// One call in an arena of its own. It goes through three states: described (shapes, and seq_len_max, which prepare may
// read), prepared, placed.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "properties/judge/call/call_frame.h"
#include "properties/judge/call/invocation.h"
#include "properties/judge/call/run.h"
#include "properties/judge/memory/arena.h"
#include "properties/judge/memory/device_mirror.h"

namespace backgauge {

// Where a call had its tensors: the arena, and for an implementation in device memory what stands for it there.
// The frames of its functions stay as long.
struct CallMemory {
  std::unique_ptr<Arena> arena;
  std::unique_ptr<DeviceMirror> mirror;
  std::vector<std::unique_ptr<CallFrame>> frames;
};

class PlacedCall {
 public:
  // On input as run() takes it; everything outlives the call. `memory_limit`: what prepare may ask for, as plan_fault()
  // takes it. Throws std::invalid_argument for an op without table.
  PlacedCall(const backgauge_implementation& implementation, const Problem& problem, std::span<const RawTensor> raw,
             const RunOptions& options, const CallObserver& observer, std::uint64_t memory_limit = 0);

  // Asks prepare, then places everything. False if there is nothing to call.
  bool prepare();

  // Calls a function of the implementation in the arena, with what the frame holds. `answer`: what the function writes
  // besides outputs and message, and how the frame calls it.
  using Body = std::function<backgauge_status(const CallFrame&)>;
  void invoke_guarded(const char* function, const Body& body, std::span<std::byte> answer = {},
                      const char* answer_name = "");

  // For callers that make several calls: runs `body` with the guards up. Call refill() before every call after the
  // first. Not in device memory.
  void guarded(const std::function<void()>& body);
  void refill();

  // What came of it. The memory, if there is any, may be kept to be asked for late violations.
  RunResult finish();
  CallMemory take_memory() { return std::move(memory_); }

  std::string shapes_refusal() const;

  const backgauge_call& c() const { return call_; }
  const RunResult& result() const { return result_; }

 private:
  struct Described {
    RawTensor raw;
    backgauge_dtype dtype;
  };

  void describe_inputs(std::span<const RawTensor> raw);
  void describe_outputs(std::int64_t reserve_length);
  void link();
  void place(const backgauge_plan& plan);
  void mirror();
  bool on_device() const { return implementation_.memory_space == BACKGAUGE_CUDA; }
  std::size_t shared_block(const Described& output) const;
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
