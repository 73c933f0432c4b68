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
#include "properties/judge/compare/claims.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

constexpr std::string_view kReserveSpace = "reserve_space";

// A little more than twice the largest L2 of a device so far, 126 MB, so that all older contents are evicted.
constexpr std::size_t kEvicting = std::size_t{256} << 20;

}  // namespace

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
  Variation variation(shapes_, options_.digits(), seed);
  vary(variation);
  variation_ = std::move(variation);
  if (forward_.struct_size == 0) return;
  run_forward(forward_);
  if (reserve_ != nullptr) keep_reserve_space();
}

// From the variation of the last turn, which is undone.
void TimedCall::vary(const Variation& variation) {
  for (const Memory& input : inputs_) {
    std::vector<std::byte> copy = input.on_device ? bytes_of(input) : std::vector<std::byte>();
    const std::span<std::byte> bytes = input.on_device ? copy : std::span(input.data, input.bytes);
    if (variation_) variation_->apply(input.name, input.dtype, bytes);
    variation.apply(input.name, input.dtype, bytes);
    if (!input.on_device) continue;
    input.on_device->write(copy, device_->stream);
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

void TimedCall::fill_workspace(std::byte with) {
  for (const Memory& memory : workspace_) {
    if (device_) {
      memory.on_device->fill(with, device_->stream);
    } else {
      std::memset(memory.data, std::to_integer<int>(with), memory.bytes);
    }
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
  const std::int64_t count = claims_of(implementation_, shapes_.op)->mask_count(shapes_.dtype, e);
  for (std::int32_t gap = 0; gap < count; ++gap) {
    keep.emplace_back(static_cast<std::size_t>(mask_elements(e)));
    backgauge_message message{};
    const backgauge_status status = implementation_.dropout_mask(&call_, gap, keep.back().data(), &message);
    if (status == BACKGAUGE_UNSUPPORTED) return std::nullopt;
    check("dropout_mask", status, message);
  }
  return keep;
}

void TimedCall::check(const char* function, backgauge_status status, const backgauge_message& message) const {
  if (status == BACKGAUGE_OK) return;
  throw ContestantError(fmt::format("{} returned {}: {}", function, call_status_word(status), message.text),
                        Status::kFailed);
}

}  // namespace backgauge
