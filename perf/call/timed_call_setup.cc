// SPDX-License-Identifier: Apache-2.0
// What comes before a timed call: its tensors in memory, the workspace, and the forward whose outputs it takes.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "perf/call/placing.h"
#include "perf/call/timed_call.h"
#include "properties/case/line/c_call.h"
#include "properties/judge/compare/claims.h"
#include "reference/contract/storage.h"
#include "reference/oracle.h"

namespace backgauge {
namespace {

std::vector<backgauge_tensor> described(const auto& memories) {
  std::vector<backgauge_tensor> out;
  for (const auto& memory : memories) {
    const backgauge_memory_space where = memory.on_device ? BACKGAUGE_CUDA : BACKGAUGE_HOST;
    out.push_back(c_tensor(memory.name.c_str(), memory.shape, memory.dtype, where, memory.data));
  }
  return out;
}

}  // namespace

TimedCall::TimedCall(const backgauge_implementation& implementation, const Problem& problem, const LoadOptions& options,
                     std::span<std::byte> block, TimedParts* parts)
    : implementation_(implementation),
      options_(options),
      shapes_{problem.op, problem.dtype, problem.attributes, problem.extents, {}, {}},
      block_(implementation.memory_space == BACKGAUGE_CUDA ? std::span<std::byte>() : block),
      parts_(parts) {
  if (implementation.memory_space == BACKGAUGE_CUDA) {
    device_ = std::make_unique<Device>();
  } else {
    evicting_.resize(static_cast<std::size_t>(options.evict_bytes));
  }
  if (traits_of(problem.op).forward) make_forward(problem);
  inputs_ = inputs_of(problem);
  described_inputs_ = described(inputs_);
  outputs_ = outputs_of(*find_op(problem.op), problem.extents);
  if (!block_.empty()) {
    for (Memory& output : outputs_) output.storage.reset();
    place_outputs(0);
  }
  described_outputs_ = described(outputs_);
  if (traits_of(problem.op).forward) link_forward();
  call_ = call_of(problem, described_inputs_, described_outputs_);
  give_workspace(call_, ask(call_));
  const std::optional<Claims> claims = claims_of(implementation, problem.op);
  if (claims && claims->changes_reserve_space[problem.dtype]) keep_reserve_space();
  loaded_.first_call = timed(1).seconds;
  loaded_.empty_call = empty_call();
}

backgauge_call TimedCall::call_of(const Problem& problem, const std::vector<backgauge_tensor>& inputs,
                                  const std::vector<backgauge_tensor>& outputs) const {
  backgauge_call call = c_call(problem, inputs, outputs, device_ ? BACKGAUGE_CUDA : BACKGAUGE_HOST, options_.threads);
  call.stream = device_ ? device_->stream.get() : nullptr;
  return call;
}

TimedCall::Memory TimedCall::place(std::string name, Shape shape, backgauge_dtype dtype) {
  const std::optional<std::int64_t> elements = element_count(shape);
  if (!elements) throw std::runtime_error(name + " has more elements than can be counted");
  const std::size_t bytes = static_cast<std::size_t>(*elements) * backgauge_dtype_bytes(dtype);
  // seq_len_max, the only int64 tensor, stays in host memory.
  Memory memory = device_ && dtype != BACKGAUGE_INT64 ? place_on_device(bytes, kDeviceAlignment) : place_bytes(bytes);
  memory.name = std::move(name);
  memory.shape = std::move(shape);
  memory.dtype = dtype;
  return memory;
}

TimedCall::Memory TimedCall::place_bytes(std::size_t bytes) {
  Memory memory;
  memory.bytes = bytes;
  memory.storage = std::make_unique_for_overwrite<std::byte[]>(memory.bytes + 2 * kPage);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.storage.get());
  memory.page = memory.storage.get() + ((address + kPage - 1) / kPage * kPage - address);
  memory.number = placed_++;
  memory.data = memory.page + place_in_page(memory.number, 0);
  return memory;
}

TimedCall::Memory TimedCall::place_on_device(std::size_t bytes, std::size_t alignment) const {
  Memory memory;
  memory.bytes = bytes;
  memory.on_device = std::make_unique<device::Memory>(bytes, alignment);
  memory.data = memory.on_device->data();
  return memory;
}

void TimedCall::write(const Memory& memory, const std::vector<double>& values) const {
  if (!memory.on_device) {
    std::memset(memory.data, 0, memory.bytes);
    return encode(memory.dtype, values, memory.data);
  }
  std::vector<std::byte> bytes(memory.bytes);
  encode(memory.dtype, values, bytes.data());
  memory.on_device->write(bytes, device_->stream);
  device_->stream.synchronize();
}

TimedCall::Memories TimedCall::inputs_of(const Problem& problem) {
  Memories out;
  Extents extents = problem.extents;
  for (const TensorSpec& spec : find_op(problem.op)->inputs) {
    if (!spec.present(extents)) continue;
    const std::string name(spec.name);
    if (const Tensor* tensor = problem.find(name)) {
      out.push_back(place(name, tensor->shape, spec.is_int64 ? BACKGAUGE_INT64 : problem.dtype));
      write(out.back(), tensor->values);  // a large tensor has values only where it is read
      continue;
    }
    const auto made = std::ranges::find(made_, name, &Memory::name);
    if (made == made_.end()) continue;  // the forward's op has no such tensor
    out.push_back(std::move(*made));
  }
  return out;
}

TimedCall::Memories TimedCall::outputs_of(const OpSpec& spec, Extents extents) {
  Memories out;
  for (const TensorSpec& output : spec.outputs) {
    if (!output.present(extents)) continue;
    out.push_back(place(std::string(output.name), output.shape(extents), shapes_.dtype));
  }
  return out;
}

backgauge_plan TimedCall::ask(backgauge_call& call) {
  backgauge_plan plan{};
  plan.struct_size = sizeof plan;
  if (implementation_.prepare == nullptr) return plan;
  backgauge_message message{};
  check("prepare", implementation_.prepare(&call, &plan, &message), message);
  return plan;
}

void TimedCall::give_workspace(backgauge_call& call, const backgauge_plan& plan) {
  call.workspace_bytes = plan.workspace_bytes;
  if (device_) {
    const std::size_t alignment = std::max<std::size_t>(plan.workspace_alignment, kDeviceAlignment);
    workspace_.push_back(place_on_device(plan.workspace_bytes, alignment));
    call.workspace = workspace_.back().data;
    return;
  }
  const std::size_t alignment = std::max<std::size_t>(plan.workspace_alignment, kLine);
  Memory memory = place_bytes(plan.workspace_bytes + alignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data);
  call.workspace = memory.data + ((address + alignment - 1) / alignment * alignment - address);
  workspace_.push_back(std::move(memory));
}

void TimedCall::make_forward(const Problem& problem) {
  const Problem forward = forward_problem(problem);
  const Memories inputs = inputs_of(forward);
  const std::vector<backgauge_tensor> described_inputs = described(inputs);
  Extents extents = forward.extents;
  std::vector<backgauge_tensor> described_outputs;
  backgauge_call call{};
  backgauge_plan plan{};
  // First to get the length of reserve_space, then with it.
  for (const bool with_reserve : {false, true}) {
    extents.reserve_length = with_reserve ? plan.reserve_space_length : 0;
    made_ = outputs_of(*find_op(forward.op), extents);
    described_outputs = described(made_);
    call = call_of(forward, described_inputs, described_outputs);
    if (!with_reserve) plan = ask(call);
  }
  give_workspace(call, plan);
  run_forward(call);
  forward_ = call;
}

void TimedCall::run_forward(backgauge_call& call) {
  backgauge_message message{};
  check("forward", implementation_.forward(&call, &message), message);
  if (device_) device_->stream.synchronize();  // its inputs may be freed
}

// Runs the forward again, from the gradient's inputs and into them.
void TimedCall::link_forward() {
  const OpSpec& spec = *find_op(forward_.op);
  const auto take = [&](const std::vector<TensorSpec>& specs, std::vector<backgauge_tensor>& into) {
    for (const TensorSpec& tensor : specs) {
      const auto found = std::ranges::find_if(described_inputs_,
                                              [&](const backgauge_tensor& input) { return tensor.name == input.name; });
      if (found != described_inputs_.end()) into.push_back(*found);
    }
  };
  take(spec.inputs, forward_inputs_);
  take(spec.outputs, forward_outputs_);
  forward_.inputs = forward_inputs_.data();
  forward_.outputs = forward_outputs_.data();
}

}  // namespace backgauge
