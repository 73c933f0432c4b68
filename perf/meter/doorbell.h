// SPDX-License-Identifier: Apache-2.0
// Lets the two processes of a watched sample agree on when each call begins and ends, in less time than a message
// takes: each counts its turns in shared memory, and sleeps until the count of the other one has changed. A process
// that polled would, on a busy machine, take the processor away from the one that it waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace backgauge {

class Doorbell {
 public:
  using Count = std::atomic<std::uint32_t>;

  Doorbell(Count& own, Count& other) : own_(own), other_(other) {}

  void ring(std::uint32_t turn);

  // Whether the other one has rung this turn, or a later one. Waits until it has, but not longer than `patience`.
  bool heard(std::uint32_t turn, std::chrono::milliseconds patience) const;

 private:
  Count& own_;
  Count& other_;
};

// The turns of the call `k` of a sample. The judge: prepare it, make it. The process: it is prepared, it has returned.
constexpr std::uint32_t first_turn(std::uint32_t k) { return 2 * k + 1; }
constexpr std::uint32_t second_turn(std::uint32_t k) { return 2 * k + 2; }

// The seconds from ringing until an answer is heard, on this machine: the median of two threads that do nothing else,
// on two processors. Each has to be woken where nothing else runs, which on a virtual machine takes ten times as long
// as changing threads on one processor. Measured once.
double seconds_of_a_turn();

// The longest of some hundred turns that are made now: how late a process may hear on this machine, which may be busy.
double longest_turn();

}  // namespace backgauge
