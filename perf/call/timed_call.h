// SPDX-License-Identifier: Apache-2.0
// A session in this process: one gradient call of an implementation, in memory like that of ordinary programs: in host
// memory every tensor starts at a multiple of 64 bytes, and no two are a multiple of 4096 bytes apart; in device memory
// each tensor is a separate allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perf/call/session.h"
#include "perf/call/timed_parts.h"
#include "perf/call/watched_sample.h"
#include "perf/meter/meter.h"
#include "perf/workload/variation.h"
#include "properties/device/device.h"
#include "properties/judge/call/float_environment.h"
#include "properties/judge/compare/judge_outputs.h"
#include "reference/contract/call.h"

namespace backgauge {

class TimedCall final : public Session {
 public:
  // Describes, prepares and places the call, and makes it for the first time; for CudnnRNNBackprop it runs the
  // implementation's own forward. Throws ContestantError if the implementation refuses the call; this and every
  // function throw std::runtime_error with the error of the device.
  // `block`: where the outputs lie (output_block.h), in host memory; if it is empty, in memory of its own.
  // `parts`: of an implementation in another language, else nullptr. In samples that are watched all parts are timed.
  // The table, the block and the parts must outlive this.
  TimedCall(const backgauge_implementation& implementation, const Problem& problem, const LoadOptions& options,
            std::span<std::byte> block = {}, TimedParts* parts = nullptr);

  Loaded loaded() const override { return loaded_; }
  void turn(std::uint64_t seed) override;

  // On a device the seconds are those from the start of the first to the end of the last on the stream. Restoring
  // reserve_space, if the implementation changes it, emptying caches, and what comes before and after the timed part of
  // a staged call is not timed. Throws ContestantError if a run does not return OK, changes the floating-point
  // environment, or keeps too many threads busy.
  Timing time(std::int64_t calls) override;
  Computed computed(bool again) override;

  // The process's side of observe(). Outputs have been poisoned before each run. Throws like time(), and if an output
  // is not written when a run returns.
  ServedSample serve(const WatchedSample& sample, CallWatcher& watcher);

  // For a call in device memory. enqueue() puts the restoring of reserve_space and one run on the stream, and does not
  // wait.
  const device::Stream& stream() const { return device_->stream; }
  void enqueue();

  // Sets all outputs to NaN, to detect elements that are not written.
  void poison_outputs();

  // Sets all bytes of the workspace, to make a difference to those who read what they have not written. On a device it
  // is only enqueued.
  void fill_workspace(std::byte with);
  std::vector<GivenTensor> outputs() const;

 private:
  struct Memory {
    std::string name{};
    Shape shape{};
    backgauge_dtype dtype = BACKGAUGE_FLOAT32;
    std::unique_ptr<std::byte[]> storage{};       // in host memory,
    std::unique_ptr<device::Memory> on_device{};  // or in device memory
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::byte* page = nullptr;  // in host memory: where the room for it begins,
    std::size_t number = 0;     // and its number in place_in_page()
  };
  // The stream and events of a call in device memory.
  struct Device {
    device::Stream stream;
    device::Stopwatch stopwatch;
    std::unique_ptr<device::Memory> evicting;
  };
  using Memories = std::vector<Memory>;

  static constexpr std::byte kPoison{0xff};  // NaN in every format

  Memory place(std::string name, Shape shape, backgauge_dtype dtype);
  Memory place_bytes(std::size_t bytes);
  Memory place_on_device(std::size_t bytes, std::size_t alignment) const;
  void write(const Memory& memory, const std::vector<double>& values) const;  // missing values are zero
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
  void vary(const Variation& variation);
  void move(std::size_t shift);
  void place_outputs(std::size_t shift);
  void check_written() const;
  void check_environment();
  void check_threads(const Timing& timing);
  void empty_caches();
  bool stages() const;
  bool evicts() const { return options_.evict_bytes > 0; }
  double empty_call();
  Timing timed(std::int64_t calls);
  Computed results(bool with_outputs) const;
  std::optional<std::vector<std::vector<std::uint8_t>>> dropout_masks() const;
  double time_batch(std::int64_t calls);
  void keep_reserve_space();
  void restore_reserve_space();
  void run(std::int64_t calls);
  double time_on_device(std::int64_t calls);
  void check(const char* function, backgauge_status status, const backgauge_message& message) const;

  const backgauge_implementation& implementation_;
  const LoadOptions options_;
  const Problem shapes_;            // the problem of the workload, without values
  std::unique_ptr<Device> device_;  // nullptr: host memory
  std::span<std::byte> block_;
  TimedParts* const parts_;
  std::vector<std::byte> evicting_;  // written to empty the host's caches
  std::size_t placed_ = 0;
  Memories inputs_, outputs_, made_;  // made_: outputs of the forward
  Memory* reserve_ = nullptr;         // restored before every run, if not nullptr
  Memory reserve_before_;
  Memories workspace_;
  std::vector<backgauge_tensor> described_inputs_, described_outputs_;
  std::vector<backgauge_tensor> forward_inputs_, forward_outputs_;  // the same memory, as the forward names it
  backgauge_call call_{}, forward_{};
  std::optional<Variation> variation_;
  FloatEnvironment environment_ = FloatEnvironment::now();
  Timing so_far_;
  Loaded loaded_;
};

}  // namespace backgauge
