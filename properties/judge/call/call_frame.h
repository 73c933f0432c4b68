// SPDX-License-Identifier: Apache-2.0
// Memory for the arguments of one function of an implementation, tensors excepted: the call with its descriptions and
// names in read-only pages; the message and other answers between guard pages.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "properties/judge/call/call_image.h"
#include "properties/judge/memory/arena.h"

namespace backgauge {

class CallFrame {
 public:
  // Copies the call and all that it points to, except the data of tensors. `answer`: the first content of what the
  // function writes besides the message, and `answer_name` its name in violations, "the plan" or "keep"; empty if there
  // is none. Throws std::bad_alloc.
  CallFrame(const backgauge_call& call, const std::string& answer_name, std::span<const std::byte> answer,
            const Placement& placement);

  const backgauge_call* call() const;
  backgauge_message* message() const;
  std::byte* answer() const { return arena_.data(kAnswer); }
  std::span<const std::byte> answered() const { return arena_.bytes(kAnswer); }

  void guarded(const std::function<void()>& body) { arena_.guarded(body); }

  // As in arena.h.
  std::vector<std::string> freeze() { return texts(arena_.freeze()); }
  std::vector<std::string> late_violations() const { return texts(arena_.late_violations()); }

 private:
  static constexpr std::size_t kCall = 0, kMessage = 1, kAnswer = 2;

  std::vector<std::string> texts(const std::vector<Violation>& violations) const;

  Arena arena_;
  CallImage image_;
};

}  // namespace backgauge
