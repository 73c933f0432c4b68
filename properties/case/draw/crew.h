// SPDX-License-Identifier: Apache-2.0
// The threads that make inputs. What they make does not depend on their number: every value is a function of its index
// or, in the forward pass, a sum in a fixed order.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

namespace backgauge {

// Thrown where making inputs was stopped.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("interrupted while inputs were made") {}
};

class Crew {
 public:
  // The calling thread alone, until all is done.
  Crew() = default;

  // stop: asked by all threads, several times a second.
  Crew(int threads, std::function<bool()> stop) : threads_(threads), stop_(std::move(stop)) {}

  // On every core that this process may use.
  static Crew of_all_cores(std::function<bool()> stop);

  int threads() const { return threads_; }
  bool stopping() const { return stop_ && stop_(); }

  // Calls work(first, last) for pieces of [0, count) of `piece` elements, each once, in any order. Throws Stopped, or
  // the first exception of `work`.
  static constexpr std::size_t kPiece = 1 << 15;  // about a third of a millisecond: ten times what a thread costs
  void over(std::size_t count, const std::function<void(std::size_t first, std::size_t last)>& work,
            std::size_t piece = kPiece) const;

  // Calls work(worker) for worker = 0 .. workers - 1 at the same time. `work` throws nothing.
  static void together(int workers, const std::function<void(int worker)>& work);

 private:
  int threads_ = 1;
  std::function<bool()> stop_;
};

}  // namespace backgauge
