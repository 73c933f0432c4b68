// SPDX-License-Identifier: Apache-2.0
// The connection between the judge and one worker: short headers over a socket, and the bytes of messages in shared
// memory, which grows and never shrinks. Only one side sends at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "properties/judge/sandbox/descriptor.h"

namespace backgauge {

// State that survives a crash of the worker, at the start of the shared memory.
struct WorkerState {
  std::atomic<std::uint32_t> function;  // index in kFunctions of the function that was entered last
  std::atomic<std::uint32_t> inside;    // 1 while it has not returned
  std::atomic<std::uint32_t> turns;     // how often a function was entered or has returned
  std::atomic<std::uint32_t> fault;     // 1: a signal for `fault_address`; 2: the stack has overflowed
  std::atomic<std::uint64_t> fault_address;
  // Of a sample that the judge watches (perf/meter/doorbell.h): the turns, and what the judge wants with its turn.
  std::atomic<std::uint32_t> judges_turn, workers_turn;
  std::atomic<std::uint64_t> next_seed;
  std::atomic<std::uint32_t> next_order;

  static constexpr const char* kFunctions[] = {"loading", "prepare",      "run",
                                               "forward", "dropout_mask", "concurrent calls"};
};

class Channel {
 public:
  // The two sides of a new channel, the second as descriptors to be inherited. None is one of the standard streams.
  // Throws std::runtime_error.
  struct Ends {
    Descriptor socket, memory;
  };
  static Channel open(Ends& other);

  // Takes over the descriptors. Throws std::runtime_error.
  Channel(Descriptor socket, Descriptor memory);
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;

  int socket() const { return socket_.get(); }
  WorkerState& state() const { return *state_; }  // its address does not change

  // Returns false if the other end is closed. Throws std::bad_alloc if there is no memory for the bytes. `turn`: the
  // number of the judge's request, which the reply repeats. It shows a second reply, for example from a process that
  // has forked.
  bool send(std::uint32_t kind, std::uint32_t turn, std::span<const std::byte> bytes);

  // Waits for a message. nullopt if the other side is gone, or has sent an impossible header.
  struct Message {
    std::uint32_t kind = 0, turn = 0;
    std::span<const std::byte>
        bytes;  // in shared memory: they may change while they are read, and are valid until the next send
  };
  std::optional<Message> receive();

 private:
  void map(std::size_t bytes);

  Descriptor socket_, memory_;
  WorkerState* state_ = nullptr;
  std::byte* mapping_ = nullptr;  // the memory after the state
  std::size_t mapped_ = 0;
  std::size_t left_ = 0;  // bytes of the last message, which the next one must not leave behind it
};

}  // namespace backgauge
