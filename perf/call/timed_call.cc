// SPDX-License-Identifier: Apache-2.0
#include "perf/call/timed_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "perf/call/placing.h"
#include "properties/case/line/c_call.h"
#include "properties/judge/compare/claims.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"
#include "reference/oracle.h"

namespace backgauge {
namespace {

constexpr std::string_view kReserveSpace = "reserve_space";

// The alignment of cudaMalloc, as in ordinary programs.
constexpr std::size_t kDeviceAlignment = 256;

// A little more than twice the largest L2 of a device so far, 126 MB, so that all older contents are evicted.
constexpr std::size_t kEvicting = std::size_t{256} << 20;

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

Timing TimedCall::time(std::int64_t calls) {
  const Timing timing = timed(calls);
  check_threads(timing);
  return timing;
}

Timing TimedCall::timed(std::int64_t calls) {
  Timing total{.waits = 0, .instructions = 0, .cycles = 0};
  for (std::int64_t left = calls; left > 0;) {
    // What is prepared is not timed; calls that need nothing are timed together. A staged call is prepared each time,
    // so that a function which keeps its answer for the next call gains nothing.
    const std::int64_t batch = reserve_ == nullptr && !evicts() && !stages() ? left : 1;
    restore_reserve_space();
    backgauge_message message{};
    if (stages()) check("prepare", parts_->prepare(&call_, &message), message);
    if (evicts()) empty_caches();
    Meter meter;
    meter.start();
    const double seconds = device_ ? time_on_device(batch) : time_batch(batch);
    Timing timing = meter.stop(seconds);
    if (device_) timing.waits = -1;  // the thread that waits for the device says nothing about it
    total.add(timing);
    if (stages()) check("finish", parts_->finish(&call_, &message), message);
    left -= batch;
  }
  check_environment();
  return total;
}

bool TimedCall::stages() const { return parts_ != nullptr && !options_.watched && parts_->is_staged(call_.op); }

// 0 without `parts_`. The least of some means: disturbances only add time.
double TimedCall::empty_call() {
  if (parts_ == nullptr) return 0;
  constexpr int kMeans = 5, kCalls = 100;
  backgauge_message message{};
  check("prepare", parts_->prepare_nothing(&call_, &message), message);
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMeans; ++k) {
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < kCalls; ++call) check("run", parts_->run_nothing(&call_, &message), message);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    least = std::min(least, seconds.count() / kCalls);
  }
  return least;
}

// Everything computed afterwards could be wrong.
void TimedCall::check_environment() {
  const std::string change = environment_.changes(FloatEnvironment::now());
  if (change.empty()) return;
  environment_.restore();
  throw ContestantError("changed the floating-point environment: " + change, Status::kFailed);
}

// Only for calls in host memory without pauses: if caches are emptied in between, the CPU time is not that of the
// calls.
void TimedCall::check_threads(const Timing& timing) {
  if (device_ || evicts()) return;
  so_far_.seconds += timing.seconds;
  so_far_.cpu_seconds += timing.cpu_seconds;
  if (const std::string why = too_many_threads(so_far_, options_.threads); !why.empty()) {
    throw ContestantError(why, Status::kFailed);
  }
}

double TimedCall::time_batch(std::int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  run(calls);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double TimedCall::time_on_device(std::int64_t calls) {
  device_->stream.synchronize();
  device_->stopwatch.start(device_->stream);
  run(calls);
  return device_->stopwatch.stop(device_->stream);
}

void TimedCall::enqueue() {
  restore_reserve_space();
  run(1);
}

void TimedCall::empty_caches() {
  if (device_) {
    device::forget_kept_cache_lines();
    if (!device_->evicting) device_->evicting = std::make_unique<device::Memory>(kEvicting, kDeviceAlignment);
    device_->evicting->fill(std::byte{0}, device_->stream);
    return;
  }
  for (std::size_t k = 0; k < evicting_.size(); k += kLine) evicting_[k] ^= std::byte{1};
}

void TimedCall::turn(std::uint64_t seed) {
  Signs signs(shapes_, seed);
  if (signs_) flip(*signs_);
  flip(signs);
  signs_ = std::move(signs);
  if (forward_.struct_size == 0) return;
  run_forward(forward_);
  if (reserve_ != nullptr) keep_reserve_space();
}

void TimedCall::flip(const Signs& signs) {
  for (const Memory& input : inputs_) {
    if (!input.on_device) {
      signs.apply(input.name, input.dtype, {input.data, input.bytes});
      continue;
    }
    std::vector<std::byte> bytes = bytes_of(input);
    signs.apply(input.name, input.dtype, bytes);
    input.on_device->write(bytes, device_->stream);
    device_->stream.synchronize();
  }
}

void TimedCall::run(std::int64_t calls) {
  backgauge_message message{};
  backgauge_status status = BACKGAUGE_OK;
  for (std::int64_t k = 0; k < calls && status == BACKGAUGE_OK; ++k) {
    status = stages() ? parts_->run(&call_, &message) : implementation_.run(&call_, &message);
  }
  check("run", status, message);
}

void TimedCall::keep_reserve_space() {
  const auto reserve = std::ranges::find(inputs_, kReserveSpace, &Memory::name);
  if (reserve == inputs_.end()) return;
  if (reserve_ == nullptr) {
    reserve_before_ = device_ ? place_on_device(reserve->bytes, kDeviceAlignment) : place_bytes(reserve->bytes);
  }
  if (device_) {
    reserve_before_.on_device->copy(*reserve->on_device, device_->stream);
  } else {
    std::memcpy(reserve_before_.data, reserve->data, reserve->bytes);
  }
  reserve_ = &*reserve;
}

void TimedCall::restore_reserve_space() {
  if (reserve_ == nullptr) return;
  if (device_) {
    reserve_->on_device->copy(*reserve_before_.on_device, device_->stream);
  } else {
    std::memcpy(reserve_->data, reserve_before_.data, reserve_->bytes);
  }
}

void TimedCall::poison_outputs() {
  for (const Memory& output : outputs_) {
    if (device_) {
      output.on_device->fill(kPoison, device_->stream);
    } else {
      std::memset(output.data, std::to_integer<int>(kPoison), output.bytes);
    }
  }
}

std::vector<std::byte> TimedCall::bytes_of(const Memory& memory) const {
  std::vector<std::byte> out(memory.bytes);
  if (memory.on_device) {
    memory.on_device->read(out, device_->stream);
    device_->stream.synchronize();
  } else {
    std::copy_n(memory.data, memory.bytes, out.begin());
  }
  return out;
}

std::vector<GivenTensor> TimedCall::outputs() const {
  std::vector<GivenTensor> out;
  for (const Memory& output : outputs_) {
    out.push_back({output.name, output.shape, shapes_.dtype,
                   std::vector<double>(output.bytes / backgauge_dtype_bytes(shapes_.dtype))});
    decode(shapes_.dtype, bytes_of(output).data(), out.back().values);
  }
  return out;
}

Computed TimedCall::computed(bool again) {
  if (again) {
    poison_outputs();
    timed(1);
  }
  return results(true);
}

Computed TimedCall::results(bool with_outputs) const {
  Computed computed;
  if (with_outputs) computed.outputs = outputs();
  if (!has_random_dropout(shapes_)) return computed;
  auto masks = dropout_masks();
  computed.masks_unavailable = !masks.has_value();
  if (masks) computed.keep = std::move(*masks);
  return computed;
}

// The masks in its reserve_space; nullopt if they are not available.
std::optional<std::vector<std::vector<std::uint8_t>>> TimedCall::dropout_masks() const {
  if (implementation_.dropout_mask == nullptr) return std::nullopt;
  const Extents& e = shapes_.extents;
  std::vector<std::vector<std::uint8_t>> keep;
  for (std::int32_t gap = 0; gap + 1 < e.L; ++gap) {
    keep.emplace_back(static_cast<std::size_t>(mask_elements(e)));
    backgauge_message message{};
    const backgauge_status status = implementation_.dropout_mask(&call_, gap, keep.back().data(), &message);
    if (status == BACKGAUGE_UNSUPPORTED) return std::nullopt;
    check("dropout_mask", status, message);
  }
  return keep;
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

void TimedCall::check(const char* function, backgauge_status status, const backgauge_message& message) const {
  if (status == BACKGAUGE_OK) return;
  throw ContestantError(fmt::format("{} returned {}: {}", function, call_status_word(status), message.text),
                        Status::kFailed);
}

}  // namespace backgauge
