// SPDX-License-Identifier: Apache-2.0
// One gradient call of an implementation in this process, in memory of its own, as ordinary programs have it: in host
// memory every tensor starts at a multiple of 64 bytes, no two of them a multiple of 4096 apart; in device memory each
// is an allocation of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/signs.h"
#include "properties/device/device.h"
#include "properties/judge/call/float_environment.h"
#include "properties/judge/compare/judge_values.h"
#include "reference/contract/call.h"

namespace backgauge {

class TimedCall {
 public:
  // Describes, prepares and places the call; CudnnRNNBackprop gets what the implementation's own forward makes.
  // With `evict_bytes` the caches are emptied before every run that is timed: so many bytes are written, by the thread
  // that calls. Throws std::runtime_error with what the implementation said, where it does not take the call, or with
  // what the device reports.
  TimedCall(const backgauge_implementation& implementation, const Problem& problem, int threads,
            std::int64_t evict_bytes);

  // Seconds of so many runs, by the host's clock, or by the device's from the first one's beginning on the stream to
  // the last one's end; reserve_space is restored between them where the implementation changes it, and caches are
  // emptied, outside of the time. Throws std::runtime_error where one is not answered with OK, or leaves the
  // floating-point environment changed.
  double time(std::int64_t calls);

  // Inputs get other signs in the place of those they have; the forward runs again.
  void turn(Signs signs);

  // All outputs become NaN: what is there afterwards was written since.
  void poison_outputs();
  std::vector<GivenTensor> outputs() const;

  // The masks in its reserve_space, of a problem with random dropout; nullopt if it cannot tell them.
  std::optional<std::vector<std::vector<std::uint8_t>>> dropout_masks(const Extents& extents) const;

  std::uint64_t workspace_bytes() const { return call_.workspace_bytes; }

 private:
  struct Memory {
    std::string name{};
    Shape shape{};
    backgauge_dtype dtype = BACKGAUGE_FLOAT32;
    std::unique_ptr<std::byte[]> storage{};       // of the host,
    std::unique_ptr<device::Memory> on_device{};  // or of the device
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  // What a call in device memory is ordered and timed with.
  struct Device {
    device::Stream stream;
    device::Stopwatch stopwatch;
    std::unique_ptr<device::Memory> evicting;
  };
  using Memories = std::vector<Memory>;

  Memory place(std::string name, Shape shape, backgauge_dtype dtype);
  Memory place_bytes(std::size_t bytes);
  Memory place_on_device(std::size_t bytes, std::size_t alignment) const;
  void write(const Memory& memory, const std::vector<double>& values) const;  // of a tensor: the rest is zero
  std::vector<std::byte> bytes_of(const Memory& memory) const;
  backgauge_call call_of(const Problem& problem, const std::vector<backgauge_tensor>& inputs,
                         const std::vector<backgauge_tensor>& outputs) const;
  Memories inputs_of(const Problem& problem);
  Memories outputs_of(const OpSpec& spec, Extents extents);
  backgauge_plan ask(backgauge_call& call);
  void give_workspace(backgauge_call& call, const backgauge_plan& plan);
  void make_forward(const Problem& problem);
  void link_forward();
  void run_forward(backgauge_call& call);
  void flip(const Signs& signs);
  void empty_caches();
  double time_batch(std::int64_t calls);
  void keep_reserve_space();
  void restore_reserve_space();
  void run(std::int64_t calls);
  double time_on_device(std::int64_t calls);
  void check(const char* function, backgauge_status status, const backgauge_message& message) const;

  const backgauge_implementation& implementation_;
  backgauge_dtype dtype_;
  int threads_;
  std::unique_ptr<Device> device_;   // nullptr: the host
  std::vector<std::byte> evicting_;  // written to empty the host's caches
  bool evicts_ = false;
  std::size_t placed_ = 0;
  Memories inputs_, outputs_, made_;  // made_: what the forward gave
  Memory* reserve_ = nullptr;         // restored before every run, if not nullptr
  Memory reserve_before_;
  Memories workspace_;
  std::vector<backgauge_tensor> described_inputs_, described_outputs_;
  std::vector<backgauge_tensor> forward_inputs_, forward_outputs_;  // the same memory, as the forward names it
  backgauge_call call_{}, forward_{};
  std::optional<Signs> signs_;
  FloatEnvironment environment_ = FloatEnvironment::now();
};

}  // namespace backgauge
