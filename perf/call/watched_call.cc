// SPDX-License-Identifier: Apache-2.0
// The part of TimedCall for samples that are watched, of an implementation that nobody vouches for: a call that is
// timed can neither find its inputs where and as they were, nor leave an output as it was.
#include <algorithm>
#include <cstring>

#include "perf/call/output_block.h"
#include "perf/call/placing.h"
#include "perf/call/timed_call.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// The clock of a process is read before and after a call that is watched, in half a microsecond each time.
constexpr double kLongerThanClocks = 20e-6;

}  // namespace

ServedSample TimedCall::serve(const WatchedSample& sample, CallWatcher& watcher) {
  ServedSample out;
  Timing long_calls;
  move(sample.shift);
  for (std::uint32_t k = 0;; ++k) {
    const Order order = watcher.await_order(k);
    if (k > 0) check_written();  // only now: it takes time, which would be that of the call
    // The judge has taken outputs in host memory from the block. Copies of large outputs would leave the heap that the
    // calls use in another state than the calls themselves do.
    if (order.hands_over_last) out.computed = results(device_ != nullptr);
    if (order.ends) break;
    turn(order.seed);
    restore_reserve_space();
    poison_outputs();
    if (device_) device_->stream.synchronize();
    if (evicts()) empty_caches();
    watcher.await_calling(k);
    const double before = cpu_seconds_of_this_process();
    const double seconds = device_ ? time_on_device(1) : time_batch(1);
    if (device_) device::synchronize();  // work on other streams counts for the judge's clock
    const double cpu_seconds = cpu_seconds_of_this_process() - before;
    watcher.has_returned(k);
    out.seconds.push_back(seconds);
    out.cpu_seconds += cpu_seconds;
    if (seconds >= kLongerThanClocks) long_calls.add({seconds, cpu_seconds});
  }
  check_environment();
  check_threads(long_calls);
  return out;
}

void TimedCall::move(std::size_t shift) {
  if (device_) return;
  for (Memory& input : inputs_) {
    std::byte* const to = input.page + place_in_page(input.number, shift);
    std::memmove(to, input.data, input.bytes);
    input.data = to;
  }
  place_outputs(shift);
  // The call has the addresses of these descriptions.
  for (std::size_t k = 0; k < described_inputs_.size(); ++k) described_inputs_[k].data = inputs_[k].data;
  for (std::size_t k = 0; k < described_outputs_.size(); ++k) described_outputs_[k].data = outputs_[k].data;
  if (forward_.struct_size == 0) return;
  forward_inputs_.clear();
  forward_outputs_.clear();
  link_forward();
}

void TimedCall::place_outputs(std::size_t shift) {
  if (block_.empty()) return;
  for (const OutputPlace& place : output_places(shapes_, shift)) {
    std::ranges::find(outputs_, place.name, &Memory::name)->data = block_.data() + place.offset;
  }
}

void TimedCall::check_written() const {
  const std::size_t size = backgauge_dtype_bytes(shapes_.dtype);
  for (const Memory& output : outputs_) {
    const std::vector<std::byte> read = output.on_device ? bytes_of(output) : std::vector<std::byte>();
    const std::byte* const bytes = output.on_device ? read.data() : output.data;
    for (std::size_t at = 0; at < output.bytes; at += size) {
      if (!std::all_of(bytes + at, bytes + at + size, [](std::byte byte) { return byte == kPoison; })) continue;
      throw ContestantError(
          output.name + "[" + std::to_string(at / size) + "]: never written by a timed call, when it returned",
          Status::kFailed);
    }
  }
}

}  // namespace backgauge
