// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/plans.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "impl/cudnn/passes.h"
#include "impl/cudnn/workspace.h"

namespace backgauge::cudnn {
namespace {

// The buffers of a call whose values do not matter.
struct Sample {
  Buffers buffers;
  ForwardOutputs forward;
  Backward backward;

  Sample(const NetworkShape& s, const NetworkSizes& sizes, Workspace& memory) {
    const auto take = [&](std::int64_t elements) {
      return memory.take_bytes(static_cast<std::size_t>(elements) * s.element_bytes());
    };
    const std::int64_t x = s.T * s.B * s.I, y = s.T * s.B * s.directions() * s.H, h = s.L * s.directions() * s.B * s.H;
    const auto cell = [&]() -> std::byte* { return s.mode == BACKGAUGE_LSTM ? take(h) : nullptr; };
    buffers = {take(x),
               take(h),
               cell(),
               memory.take_bytes(sizes.weights),
               memory.take_bytes(sizes.workspace),
               memory.take_bytes(sizes.reserve)};
    forward = {take(y), take(h), cell()};
    backward = {forward.y, take(y), take(h), cell(), take(x), take(h), cell(), memory.take_bytes(sizes.weights)};
  }
};

// The shortest of a few backward calls, in milliseconds, each from an idle device as bench times them.
float shortest_call(const NetworkShape& shape, const NetworkSizes& sizes, bool graph) {
  constexpr int kCalls = 5;  // the first is a rehearsal; the shortest of four varies by some percent
  Workspace count;
  const Sample counted(shape, sizes, count);
  const DeviceMemory memory(count.bytes());
  const Stream stream;
  check(cudaMemsetAsync(memory.data(), 0, memory.bytes(), stream), "cudaMemsetAsync");
  Workspace place(memory.data());
  const Sample sample(shape, sizes, place);
  const Event from, to;
  float shortest = std::numeric_limits<float>::infinity();
  const Lease lease(stream);
  Network& network = lease->network(shape);
  const auto call = [&] { enqueue_backward(network, sizes, stream, sample.buffers, sample.backward); };
  network.draw_masks_anew(0);
  enqueue_forward(network, sizes, sample.buffers, sample.forward);
  for (int k = 0; k < kCalls; ++k) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    check(cudaEventRecord(from, stream), "cudaEventRecord");
    if (graph) {
      lease->replay({shape, {memory.data()}}, call);
    } else {
      call();
    }
    check(cudaEventRecord(to, stream), "cudaEventRecord");
    check(cudaEventSynchronize(to), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
    if (k > 0) shortest = std::min(shortest, milliseconds);
  }
  lease->forget();  // graphs of memory that is given back
  return shortest;
}

Plan fastest_plan(const NetworkShape& shape) {
  std::optional<Plan> best;
  float shortest = std::numeric_limits<float>::infinity();
  std::optional<CallError> refusal;
  for (const Way& way : settings().ways) {
    try {
      Plan plan{shape, {}, way.graph};
      plan.shape.algorithm = way.algorithm;
      plan.sizes = checked_sizes(plan.shape);
      const float time = shortest_call(plan.shape, plan.sizes, way.graph);
      if (best && time >= shortest) continue;
      best = plan;
      shortest = time;
    } catch (const CallError& failure) {
      if (!refusal) refusal = failure;  // that of STANDARD, which is asked first and takes most
    }
  }
  if (!best) throw *refusal;
  return *best;
}

// What is known of shapes, found out by one thread at a time: times are those of an otherwise idle process.
template <class Value, class Find>
Value remembered(const NetworkShape& shape, const Find& find) {
  static std::mutex mutex;
  static std::map<NetworkShape, Value> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(shape); found != known.end()) return found->second;
  return known.emplace(shape, find()).first->second;
}

}  // namespace

NetworkSizes checked_sizes(const NetworkShape& shape) {
  return remembered<NetworkSizes>(shape, [&] {
    const Lease lease(nullptr);  // nothing is enqueued
    const Network& network = lease->network(shape);
    network.check_layout();
    return network.sizes();
  });
}

Plan plan_of(const NetworkShape& given) {
  NetworkShape shape = given;
  shape.algorithm = settings().ways.front().algorithm;
  if (!settings().best()) return {shape, checked_sizes(shape), settings().ways.front().graph};
  return remembered<Plan>(shape, [&] { return fastest_plan(shape); });
}

}  // namespace backgauge::cudnn
