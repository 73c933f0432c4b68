// SPDX-License-Identifier: Apache-2.0
#include "reference/contract/owned_call.h"

#include <algorithm>
#include <stdexcept>

namespace backgauge {
namespace {

backgauge_tensor describe(const TensorSpec& spec, const CallSetup& setup) {
  backgauge_tensor tensor{};
  tensor.name = spec.name.data();  // made from a literal of ops.inc: NUL-terminated
  const Shape shape = spec.shape(setup.extents);
  std::ranges::copy(shape, tensor.shape);
  tensor.rank = static_cast<std::int32_t>(shape.size());
  tensor.dtype = spec.is_int64 ? BACKGAUGE_INT64 : setup.dtype;
  tensor.memory_space = BACKGAUGE_HOST;
  return tensor;
}

std::vector<backgauge_tensor> describe(const std::vector<TensorSpec>& specs, const CallSetup& setup) {
  std::vector<backgauge_tensor> tensors;
  for (const TensorSpec& spec : specs) {
    if (spec.present(setup.extents)) tensors.push_back(describe(spec, setup));
  }
  return tensors;
}

constexpr std::uint64_t repeated(unsigned char byte) { return 0x0101010101010101u * byte; }

}  // namespace

DescribedCall::DescribedCall(CallSetup setup, const PrepareFunction& prepare) : seq_len_max_(setup.extents.S) {
  const OpSpec& spec = *find_op(setup.op);
  Extents& extents = setup.extents;
  extents.params_length = params_length(spec, setup.attributes, extents).value_or(0);

  call.struct_size = sizeof call;
  call.op = setup.op;
  call.dtype = setup.dtype;
  call.memory_space = BACKGAUGE_HOST;
  call.attributes = setup.attributes;
  call.num_threads = 1;
  plan.struct_size = sizeof plan;
  plan.reserve_space_length = kReserveLength;
  const auto describe_all = [&] {
    inputs = describe(spec.inputs, setup);
    outputs = describe(spec.outputs, setup);
    for (backgauge_tensor& tensor : inputs) {
      if (tensor.dtype == BACKGAUGE_INT64) tensor.data = &seq_len_max_;
    }
    link();
  };
  describe_all();
  if (prepare != nullptr) {
    plan.reserve_space_length = 0;
    backgauge_message message{};
    if (prepare(&call, &plan, &message) != BACKGAUGE_OK) throw std::runtime_error(message.text);
  }
  extents.reserve_length = plan.reserve_space_length;
  describe_all();
}

OwnedCall::OwnedCall(const CallSetup& setup, const PrepareFunction& prepare, const InputMemory& input_memory)
    : DescribedCall(setup, prepare) {
  std::size_t bytes = 0;
  for (const auto* tensors : {&inputs, &outputs}) {
    for (const backgauge_tensor& tensor : *tensors) {
      bytes =
          std::max(bytes, static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype));
    }
  }
  const std::size_t words = 2 * (bytes / sizeof(std::uint64_t) + 1);
  if (input_memory != nullptr) {
    std::byte* next = input_memory(inputs.size() * words * sizeof(std::uint64_t));
    for (backgauge_tensor& tensor : inputs) {
      if (tensor.data == nullptr) tensor.data = next;
      next += words * sizeof(std::uint64_t);
    }
  }
  for (auto* tensors : {&inputs, &outputs}) {
    for (backgauge_tensor& tensor : *tensors) {
      if (tensor.data != nullptr) continue;
      buffers_.emplace_back(words, repeated(kFill));
      tensor.data = buffers_.back().data();
    }
  }
  if (plan.workspace_bytes > 0) {
    const std::size_t alignment = std::max<std::size_t>(plan.workspace_alignment, 1);
    workspace_.resize(plan.workspace_bytes + alignment);
    const auto address = reinterpret_cast<std::uintptr_t>(workspace_.data());
    call.workspace = workspace_.data() + (alignment - address % alignment) % alignment;
    call.workspace_bytes = plan.workspace_bytes;
  }
}

void DescribedCall::link() {
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  call.num_inputs = static_cast<std::int32_t>(inputs.size());
  call.num_outputs = static_cast<std::int32_t>(outputs.size());
}

bool OwnedCall::untouched() const {
  return std::ranges::all_of(buffers_, [](const std::vector<std::uint64_t>& buffer) {
    return std::ranges::all_of(buffer, [](std::uint64_t word) { return word == repeated(kFill); });
  });
}

}  // namespace backgauge
