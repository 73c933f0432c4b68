// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/call_frame.h"

namespace backgauge {
namespace {

std::span<const backgauge_tensor> inputs_of(const backgauge_call& call) {
  return {call.inputs, static_cast<std::size_t>(call.num_inputs)};
}

std::span<const backgauge_tensor> outputs_of(const backgauge_call& call) {
  return {call.outputs, static_cast<std::size_t>(call.num_outputs)};
}

std::vector<Block> blocks_of(const backgauge_call& call, const std::string& answer_name,
                             std::span<const std::byte> answer) {
  const std::size_t call_bytes = CallImage::bytes_of(inputs_of(call), outputs_of(call));
  return {{.name = "the call",
           .role = Block::Role::kInput,
           .unit = alignof(backgauge_call),
           .size = call_bytes,
           .bytes = std::vector<std::byte>(call_bytes),
           .in_bytes = true},
          {.name = "the message",
           .role = Block::Role::kChangedInput,
           .size = sizeof(backgauge_message),
           .bytes = std::vector<std::byte>(sizeof(backgauge_message)),
           .in_bytes = true},
          {.name = answer_name,
           .role = Block::Role::kChangedInput,
           .unit = alignof(backgauge_plan),
           .size = answer.size(),
           .bytes = {answer.begin(), answer.end()},
           .in_bytes = true}};
}

}  // namespace

CallFrame::CallFrame(const backgauge_call& call, const std::string& answer_name, std::span<const std::byte> answer,
                     const Placement& placement)
    : arena_(blocks_of(call, answer_name, answer), placement),
      image_(call, inputs_of(call), outputs_of(call), arena_.data(kCall)) {
  arena_.write(kCall, image_.bytes());
}

const backgauge_call* CallFrame::call() const { return reinterpret_cast<const backgauge_call*>(arena_.data(kCall)); }

backgauge_message* CallFrame::message() const { return reinterpret_cast<backgauge_message*>(arena_.data(kMessage)); }

std::vector<std::string> CallFrame::texts(const std::vector<Violation>& violations) const {
  std::vector<std::string> out;
  for (const Violation& violation : violations) {
    const bool inside =
        violation.kind == Violation::Kind::kWroteInput || violation.kind == Violation::Kind::kChangedInput;
    out.push_back(inside ? "wrote to " + image_.part_at(violation.element) +
                               (violation.late ? " after the call had returned" : "")
                         : violation.text());
  }
  return out;
}

}  // namespace backgauge
