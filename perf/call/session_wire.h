// SPDX-License-Identifier: Apache-2.0
// The messages between a session and its process, except problems (messages.h), as bytes (wire.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perf/call/watched_sample.h"
#include "properties/judge/worker/channel.h"
#include "properties/judge/worker/wire.h"

namespace backgauge {

// A process with this as its first argument serves a session.
inline constexpr const char* kSessionArgument = "--time";

// An answer is of the kind of its request, or kError.
enum class SessionMessage : std::uint32_t {
  kOpened = 1,  // process, without a request: whether it computes on a device
  kOptions,     // LoadOptions, before kLoad
  kLoad,        // the problem; answer: Loaded
  kTurn,        // the seed
  kTime,        // the number of calls; answer: Timing
  kObserve,     // WatchedSample, then an Order for each call in WorkerState; answer: ServedSample
  kComputed,    // whether to make one more call; answer: Computed
  kError        // process: Refusal
};

// An order in the memory that both see.
inline void put_order(const Order& order, WorkerState& state) {
  state.next_seed = order.seed;
  state.next_order = (order.hands_over_last ? 1u : 0u) | (order.ends ? 2u : 0u);
}
inline Order order_in(const WorkerState& state) {
  const std::uint32_t bits = state.next_order;
  return {state.next_seed, (bits & 1u) != 0, (bits & 2u) != 0};
}

struct Refusal {
  std::int32_t status = 0;  // a Status
  std::string text;
};

template <class Archive, Is<Refusal> V>
void fields(Archive& archive, V& refusal) {
  archive(refusal.text, refusal.status);
}

template <class Archive, Is<GivenTensor> V>
void fields(Archive& archive, V& tensor) {
  archive(tensor.name, tensor.shape, tensor.values, tensor.dtype);
}

template <class Archive, Is<Computed> V>
void fields(Archive& archive, V& computed) {
  archive(computed.outputs, computed.keep, computed.masks_unavailable);
}

template <class Archive, Is<ServedSample> V>
void fields(Archive& archive, V& served) {
  archive(served.seconds, served.computed, served.cpu_seconds);
}

template <class... V>
std::vector<std::byte> bytes_of(const V&... values) {
  Writer writer;
  writer(values...);
  return {writer.bytes().begin(), writer.bytes().end()};
}

// Throws ContestantError where the bytes cannot be decoded: the process that sent them has corrupted its memory.
template <class T>
T parsed(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  T value{};
  reader(value);
  if (!reader.ok()) throw ContestantError("memory: its process sent a reply that cannot be decoded");
  return value;
}

}  // namespace backgauge
