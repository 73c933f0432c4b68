// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/call_image.h"

#include <cstring>

namespace backgauge {
namespace {

std::size_t name_bytes(const backgauge_tensor& tensor) {
  return tensor.name == nullptr ? 0 : std::strlen(tensor.name) + 1;
}

}  // namespace

std::size_t CallImage::bytes_of(std::span<const backgauge_tensor> inputs, std::span<const backgauge_tensor> outputs) {
  std::size_t bytes = sizeof(backgauge_call);
  for (const auto& tensors : {inputs, outputs}) {
    for (const backgauge_tensor& tensor : tensors) bytes += sizeof tensor + name_bytes(tensor);
  }
  return bytes;
}

CallImage::CallImage(const backgauge_call& call, std::span<const backgauge_tensor> inputs,
                     std::span<const backgauge_tensor> outputs, const std::byte* begin)
    : bytes_(bytes_of(inputs, outputs)) {
  const auto put = [&](std::size_t at, const void* what, std::size_t size) { std::memcpy(&bytes_[at], what, size); };
  std::size_t tensor_at = sizeof call;
  std::size_t name_at = tensor_at + (inputs.size() + outputs.size()) * sizeof(backgauge_tensor);
  parts_.push_back({0, "the call"});
  std::vector<Part> names;
  const auto put_all = [&](std::span<const backgauge_tensor> tensors) {
    const auto* list = reinterpret_cast<const backgauge_tensor*>(begin + tensor_at);
    for (backgauge_tensor tensor : tensors) {
      const std::string name = tensor.name == nullptr ? "a tensor" : tensor.name;
      parts_.push_back({tensor_at, "the description of " + name});
      if (tensor.name != nullptr) {
        names.push_back({name_at, "the name of " + name});
        put(name_at, tensor.name, name_bytes(tensor));
        const std::size_t next = name_at + name_bytes(tensor);
        tensor.name = reinterpret_cast<const char*>(begin + name_at);
        name_at = next;
      }
      put(tensor_at, &tensor, sizeof tensor);
      tensor_at += sizeof tensor;
    }
    return list;
  };
  backgauge_call copy = call;
  const backgauge_tensor* list = put_all(inputs);
  if (copy.inputs != nullptr) copy.inputs = list;
  list = put_all(outputs);
  if (copy.outputs != nullptr) copy.outputs = list;
  put(0, &copy, sizeof copy);
  parts_.insert(parts_.end(), names.begin(), names.end());
}

std::string CallImage::part_at(std::int64_t byte) const {
  std::size_t part = 0;
  while (part + 1 < parts_.size() && parts_[part + 1].begin <= static_cast<std::size_t>(byte)) ++part;
  return parts_[part].what;
}

}  // namespace backgauge
