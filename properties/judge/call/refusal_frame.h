// SPDX-License-Identifier: Apache-2.0
// What a malformed call lies in. There are thousands of them, and each takes microseconds: so their memory is mapped
// once, and a call is put there through another mapping of the same pages, without a system call.
//
// What a function may not write (the call, its descriptions and names, inputs) lies in pages that are closed for
// writing all the time; the message and the plan lie between a canary and a guard page.
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

  // Memory that holds OwnedCall::kFill, for the data of inputs.
  std::span<std::byte> inputs() const { return {inputs_, input_bytes_}; }

  // Puts a call into the frame, and clears message and plan. `inputs`, `outputs`: as CallImage. An input that lies in
  // `seq_len_max` gets a copy of it.
  void load(const backgauge_call& call, std::span<const backgauge_tensor> inputs,
            std::span<const backgauge_tensor> outputs, const std::int64_t* seq_len_max);
  const backgauge_call* call() const;
  backgauge_message* message() const;
  backgauge_plan* plan() const;

  // The function has returned: what it has touched. From now on nothing may change; late: what has. Where either says
  // something the frame is of no more use.
  std::vector<std::string> freeze();
  std::vector<std::string> late_violations() const;

 private:
  // A page of which the last bytes may be written.
  struct Answer {
    const char* name;
    std::size_t size;
    std::byte* page = nullptr;
    std::byte* data() const;
  };

  std::string text_of(const GuardHit& hit) const;
  std::vector<std::string> touched(std::size_t from) const;  // by hits from that one on, and before answers

  const std::size_t input_bytes_;
  std::span<std::byte> mapping_, alias_;  // alias_: of the closed pages, open
  std::byte* call_ = nullptr;
  std::byte* inputs_ = nullptr;
  Answer message_{"the message", sizeof(backgauge_message)}, plan_{"the plan", sizeof(backgauge_plan)};
  std::optional<CallImage> image_;
  std::vector<backgauge_tensor> loaded_;  // inputs
  std::vector<std::byte> frozen_;         // the message, as it was then
  std::size_t frozen_hits_ = 0;
  std::optional<GuardWatch> watch_;
};

}  // namespace backgauge
