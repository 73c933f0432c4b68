// SPDX-License-Identifier: Apache-2.0
// The messages between a session and its process, except problems (messages.h), as bytes (wire.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "perf/call/session.h"
#include "properties/judge/worker/wire.h"

namespace backgauge {

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

template <class Archive, Is<LocalSession::Served> V>
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
