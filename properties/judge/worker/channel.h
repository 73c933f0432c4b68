// SPDX-License-Identifier: Apache-2.0
// Between the judge and one worker: short notes over a socket, and the bytes they are about in memory that both have
// mapped, which grows and never shrinks. One side speaks at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace backgauge {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  void close();
  int get() const { return number_; }

 private:
  int number_;
};

// What a worker says while it cannot speak: at the start of the shared memory.
struct WorkerState {
  std::atomic<std::uint32_t> function;  // of kFunctions: the one of the implementation that was entered last
  std::atomic<std::uint32_t> inside;    // whether it has not returned
  std::atomic<std::uint32_t> turns;     // how often one was entered or left
  std::atomic<std::uint32_t> fault;     // 1: a signal has come for `address`; 2: the stack has overflown
  std::atomic<std::uint64_t> fault_address;

  static constexpr const char* kFunctions[] = {"backgauge_entry", "prepare",      "run",
                                               "forward",         "dropout_mask", "calls at once"};
};

class Channel {
 public:
  // The two sides of a new one, the second as descriptors to be inherited; none is one of the standard streams. Throws
  // std::runtime_error.
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
  WorkerState& state() const { return *state_; }  // stays where it is

  // Throws std::bad_alloc where there is no memory for the bytes. False if the other side is gone. `turn`: a number of
  // the judge's request, which its answer repeats: one that was given twice, by a process that has doubled, shows.
  bool send(std::uint32_t kind, std::uint32_t turn, std::span<const std::byte> bytes);

  // Waits. nullopt if the other side is gone, or has sent what cannot be.
  struct Message {
    std::uint32_t kind = 0, turn = 0;
    std::span<const std::byte> bytes;  // in shared memory: may change under the reader's eyes, until the next send
  };
  std::optional<Message> receive();

 private:
  void map(std::size_t bytes);

  Descriptor socket_, memory_;
  WorkerState* state_ = nullptr;
  std::byte* mapping_ = nullptr;  // what follows the state
  std::size_t mapped_ = 0;
};

}  // namespace backgauge
