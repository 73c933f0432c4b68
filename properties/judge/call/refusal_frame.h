// SPDX-License-Identifier: Apache-2.0
// The memory for malformed calls. There are thousands of them, and each takes microseconds: so the memory is mapped
// once, and calls are written through a second mapping of the same pages, without a system call.
//
// The call, its descriptions and names, and the inputs lie in pages that are always read-only to the implementation;
// the message and the plan lie between a canary and a guard page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/judge/call/call_image.h"
#include "properties/judge/memory/guard.h"

namespace backgauge {

class RefusalFrame {
 public:
  // `input_bytes`: room for the inputs of a call. Throws std::bad_alloc.
  explicit RefusalFrame(std::size_t input_bytes);
  ~RefusalFrame();
  RefusalFrame(const RefusalFrame&) = delete;
  RefusalFrame& operator=(const RefusalFrame&) = delete;

  // Memory for the data of inputs; it holds OwnedCall::kFill.
  std::span<std::byte> inputs() const { return {inputs_, input_bytes_}; }

  // Copies a call into the frame, and clears message and plan. `inputs`, `outputs`: as for CallImage. An input whose
  // data is `seq_len_max` gets a copy of that.
  void load(const backgauge_call& call, std::span<const backgauge_tensor> inputs,
            std::span<const backgauge_tensor> outputs, const std::int64_t* seq_len_max);
  const backgauge_call* call() const;
  backgauge_message* message() const;
  backgauge_plan* plan() const;

  // As in arena.h: what the function accessed without permission, and what changed later. If either is not empty, the
  // frame cannot be used again.
  std::vector<std::string> freeze();
  std::vector<std::string> late_violations() const;

 private:
  // A page whose last bytes may be written.
  struct Answer {
    const char* name;
    std::size_t size;
    std::byte* page = nullptr;
    std::byte* data() const;
  };

  std::string text_of(const GuardHit& hit) const;
  std::vector<std::string> touched(std::size_t from) const;  // by hits from number `from` on, and by changed canaries

  const std::size_t input_bytes_;
  std::span<std::byte> mapping_, alias_;  // alias_: the second, writable mapping of the read-only pages
  std::byte* call_ = nullptr;
  std::byte* inputs_ = nullptr;
  Answer message_{"the message", sizeof(backgauge_message)}, plan_{"the plan", sizeof(backgauge_plan)};
  std::optional<CallImage> image_;
  std::vector<backgauge_tensor> loaded_;  // inputs
  std::vector<std::byte> frozen_;         // the message at freeze()
  std::size_t frozen_hits_ = 0;
  std::optional<GuardWatch> watch_;
};

}  // namespace backgauge
