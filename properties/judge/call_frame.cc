// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call_frame.h"

#include <cstring>

namespace backgauge {
namespace {

std::size_t bytes_of(const backgauge_tensor* tensors, std::int32_t count) {
  std::size_t bytes = 0;
  for (std::int32_t k = 0; k < count; ++k) bytes += sizeof tensors[k] + std::strlen(tensors[k].name) + 1;
  return bytes;
}

std::size_t bytes_of(const backgauge_call& call) {
  return sizeof call + bytes_of(call.inputs, call.num_inputs) + bytes_of(call.outputs, call.num_outputs);
}

std::vector<Block> blocks_of(const backgauge_call& call, const std::string& answer_name,
                             std::span<const std::byte> answer) {
  const std::size_t call_bytes = bytes_of(call);
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
    : arena_(blocks_of(call, answer_name, answer), placement) {
  std::vector<std::byte> bytes(arena_.bytes(kCall).size());
  std::byte* const begin = arena_.data(kCall);
  const auto put = [&](std::size_t at, const void* what, std::size_t size) { std::memcpy(&bytes[at], what, size); };
  backgauge_call copy = call;
  std::size_t tensor_at = sizeof call;
  const auto tensors = static_cast<std::size_t>(call.num_inputs + call.num_outputs);
  std::size_t name_at = tensor_at + tensors * sizeof(backgauge_tensor);
  parts_.push_back({0, "the call"});
  std::vector<Part> names;
  const auto copy_all = [&](const backgauge_tensor*& list, std::int32_t count) {
    const backgauge_tensor* from = list;
    list = reinterpret_cast<const backgauge_tensor*>(begin + tensor_at);
    for (std::int32_t k = 0; k < count; ++k) {
      backgauge_tensor tensor = from[k];
      const std::size_t name_bytes = std::strlen(tensor.name) + 1;
      put(name_at, tensor.name, name_bytes);
      parts_.push_back({tensor_at, std::string("the description of ") + tensor.name});
      names.push_back({name_at, std::string("the name of ") + tensor.name});
      tensor.name = reinterpret_cast<const char*>(begin + name_at);
      put(tensor_at, &tensor, sizeof tensor);
      tensor_at += sizeof tensor;
      name_at += name_bytes;
    }
  };
  copy_all(copy.inputs, call.num_inputs);
  copy_all(copy.outputs, call.num_outputs);
  put(0, &copy, sizeof copy);
  parts_.insert(parts_.end(), names.begin(), names.end());
  arena_.write(kCall, std::move(bytes));
}

const backgauge_call* CallFrame::call() const { return reinterpret_cast<const backgauge_call*>(arena_.data(kCall)); }

backgauge_message* CallFrame::message() const { return reinterpret_cast<backgauge_message*>(arena_.data(kMessage)); }

std::string CallFrame::place_of(std::int64_t byte) const {
  std::size_t part = 0;
  while (part + 1 < parts_.size() && parts_[part + 1].begin <= static_cast<std::size_t>(byte)) ++part;
  return parts_[part].what;
}

std::vector<std::string> CallFrame::texts(const std::vector<Violation>& violations) const {
  std::vector<std::string> out;
  for (const Violation& violation : violations) {
    const bool inside =
        violation.kind == Violation::Kind::kWroteInput || violation.kind == Violation::Kind::kChangedInput;
    out.push_back(inside ? "wrote to " + place_of(violation.element) +
                               (violation.late ? " after the call had returned" : "")
                         : violation.text());
  }
  return out;
}

}  // namespace backgauge
