// SPDX-License-Identifier: Apache-2.0
#include "perf/timed_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "properties/judge/claims.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"
#include "reference/oracle.h"

namespace backgauge {
namespace {

constexpr std::size_t kLine = 64, kPage = 4096;
constexpr std::size_t kStagger = 5 * kLine;  // odd in lines: 64 tensors before two of them meet again
constexpr std::string_view kReserveSpace = "reserve_space";

std::vector<backgauge_tensor> described(const auto& memories) {
  std::vector<backgauge_tensor> out;
  for (const auto& memory : memories) {
    backgauge_tensor tensor{};
    tensor.name = memory.name.c_str();
    tensor.data = memory.data;
    std::ranges::copy(memory.shape, tensor.shape);
    tensor.rank = static_cast<std::int32_t>(memory.shape.size());
    tensor.dtype = memory.dtype;
    tensor.memory_space = BACKGAUGE_HOST;
    out.push_back(tensor);
  }
  return out;
}

backgauge_call call_of(const Problem& problem, int threads, const std::vector<backgauge_tensor>& inputs,
                       const std::vector<backgauge_tensor>& outputs) {
  backgauge_call call{};
  call.struct_size = sizeof call;
  call.op = problem.op;
  call.dtype = problem.dtype;
  call.memory_space = BACKGAUGE_HOST;
  call.attributes = problem.attributes;
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  call.num_inputs = static_cast<std::int32_t>(inputs.size());
  call.num_outputs = static_cast<std::int32_t>(outputs.size());
  call.num_threads = threads;
  return call;
}

}  // namespace

TimedCall::TimedCall(const backgauge_implementation& implementation, const Problem& problem, int threads)
    : implementation_(implementation), dtype_(problem.dtype), threads_(threads) {
  if (problem.op == BACKGAUGE_CUDNN_RNN_BACKPROP) make_forward(problem);
  inputs_ = inputs_of(problem);
  described_inputs_ = described(inputs_);
  outputs_ = outputs_of(*find_op(problem.op), problem.extents);
  described_outputs_ = described(outputs_);
  call_ = call_of(problem, threads, described_inputs_, described_outputs_);
  give_workspace(call_, ask(call_));
  const backgauge_op_claims* claims = claims_of(implementation, problem.op);
  for (const Memory& input : inputs_) {
    if (input.name != kReserveSpace || claims == nullptr || claims->changes_reserve_space == 0) continue;
    reserve_ = input.data;
    reserve_before_.assign(input.data, input.data + input.bytes);
  }
}

double TimedCall::time(std::int64_t calls) {
  using Clock = std::chrono::steady_clock;
  Clock::duration total{};
  for (std::int64_t left = calls; left > 0;) {
    // Copies stay outside of the time, and calls that need none stay together.
    const std::int64_t batch = reserve_ == nullptr ? left : 1;
    if (reserve_ != nullptr) std::ranges::copy(reserve_before_, reserve_);
    backgauge_message message{};
    backgauge_status status = BACKGAUGE_OK;
    const Clock::time_point start = Clock::now();
    for (std::int64_t k = 0; k < batch && status == BACKGAUGE_OK; ++k) status = implementation_.run(&call_, &message);
    total += Clock::now() - start;
    check("run", status, message);
    left -= batch;
  }
  return std::chrono::duration<double>(total).count();
}

void TimedCall::poison_outputs() {
  constexpr int kNan = 0xff;  // in every format
  for (const Memory& output : outputs_) std::memset(output.data, kNan, output.bytes);
}

std::vector<GivenTensor> TimedCall::outputs() const {
  std::vector<GivenTensor> out;
  for (const Memory& output : outputs_) {
    out.push_back(
        {output.name, output.shape, dtype_, std::vector<double>(output.bytes / backgauge_dtype_bytes(dtype_))});
    decode(dtype_, output.data, out.back().values);
  }
  return out;
}

std::vector<std::vector<std::uint8_t>> TimedCall::dropout_masks(const Extents& e) const {
  std::vector<std::vector<std::uint8_t>> keep;
  for (std::int32_t gap = 0; gap + 1 < e.L; ++gap) {
    keep.emplace_back(static_cast<std::size_t>(e.T * e.B * e.D * e.H));
    backgauge_message message{};
    check("dropout_mask", implementation_.dropout_mask(&call_, gap, keep.back().data(), &message), message);
  }
  return keep;
}

TimedCall::Memory TimedCall::place(std::string name, Shape shape, backgauge_dtype dtype) {
  const std::optional<std::int64_t> elements = element_count(shape);
  if (!elements) throw std::runtime_error(name + " has more elements than can be counted");
  Memory memory = place_bytes(static_cast<std::size_t>(*elements) * backgauge_dtype_bytes(dtype));
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
  const std::uintptr_t page = (address + kPage - 1) / kPage * kPage;
  memory.data = memory.storage.get() + (page - address) + placed_++ * kStagger % kPage;
  return memory;
}

TimedCall::Memories TimedCall::inputs_of(const Problem& problem) {
  Memories out;
  Extents extents = problem.extents;
  for (const TensorSpec& spec : find_op(problem.op)->inputs) {
    if (!spec.present(extents)) continue;
    const std::string name(spec.name);
    if (const Tensor* tensor = problem.find(name)) {
      out.push_back(place(name, tensor->shape, spec.is_int64 ? BACKGAUGE_INT64 : problem.dtype));
      // A large tensor has values only as far as it is read.
      std::memset(out.back().data, 0, out.back().bytes);
      encode(out.back().dtype, tensor->values, out.back().data);
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
    out.push_back(place(std::string(output.name), output.shape(extents), dtype_));
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
  const std::size_t alignment = std::max<std::size_t>(plan.workspace_alignment, kLine);
  Memory memory = place_bytes(plan.workspace_bytes + alignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data);
  call.workspace = memory.data + ((address + alignment - 1) / alignment * alignment - address);
  call.workspace_bytes = plan.workspace_bytes;
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
  // Once to learn how long reserve_space is, once with it.
  for (const bool with_reserve : {false, true}) {
    extents.reserve_length = with_reserve ? plan.reserve_space_length : 0;
    made_ = outputs_of(*find_op(forward.op), extents);
    described_outputs = described(made_);
    call = call_of(forward, threads_, described_inputs, described_outputs);
    if (!with_reserve) plan = ask(call);
  }
  give_workspace(call, plan);
  backgauge_message message{};
  check("forward", implementation_.forward(&call, &message), message);
}

void TimedCall::check(const char* function, backgauge_status status, const backgauge_message& message) const {
  if (status == BACKGAUGE_OK) return;
  throw std::runtime_error(
      fmt::format("{} answered {}: {}", function, status_word(std::int32_t{status}), message.text));
}

}  // namespace backgauge
