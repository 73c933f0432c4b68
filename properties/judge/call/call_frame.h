// SPDX-License-Identifier: Apache-2.0
// What a function of an implementation is given besides the memory of tensors, in pages of its own: the call with its
// descriptions and names, which nobody may write, and between guards the message and what else it answers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "properties/judge/call/call_image.h"
#include "properties/judge/memory/arena.h"

namespace backgauge {

class CallFrame {
 public:
  // Copies the call and all that it points to, tensors aside. `answer`: what the function writes besides the message,
  // as it is at first, "the plan" or "keep"; none if it is empty. Throws std::bad_alloc.
  CallFrame(const backgauge_call& call, const std::string& answer_name, std::span<const std::byte> answer,
            const Placement& placement);

  const backgauge_call* call() const;
  backgauge_message* message() const;
  std::byte* answer() const { return arena_.data(kAnswer); }
  std::span<const std::byte> answered() const { return arena_.bytes(kAnswer); }

  void guarded(const std::function<void()>& body) { arena_.guarded(body); }

  // As those of an arena.
  std::vector<std::string> freeze() { return texts(arena_.freeze()); }
  std::vector<std::string> late_violations() const { return texts(arena_.late_violations()); }

 private:
  static constexpr std::size_t kCall = 0, kMessage = 1, kAnswer = 2;

  std::vector<std::string> texts(const std::vector<Violation>& violations) const;

  Arena arena_;
  CallImage image_;
};

}  // namespace backgauge
