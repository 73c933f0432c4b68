// SPDX-License-Identifier: Apache-2.0
// One gradient call of an implementation in this process, in memory of its own, as ordinary programs have it: every
// tensor starts at a multiple of 64 bytes, no two of them a multiple of 4096 apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "properties/case/inputs.h"
#include "properties/judge/judge_values.h"
#include "reference/contract/call.h"

namespace backgauge {

class TimedCall {
 public:
  // Describes, prepares and places the call; CudnnRNNBackprop gets what the implementation's own forward makes.
  // Throws std::runtime_error with what the implementation said, where it does not take the call.
  TimedCall(const backgauge_implementation& implementation, const Problem& problem, int threads);

  // Seconds of so many runs; reserve_space is restored between them where the implementation changes it. Throws
  // std::runtime_error where one is not answered with OK.
  double time(std::int64_t calls);

  // All outputs become NaN: what is there afterwards was written since.
  void poison_outputs();
  std::vector<GivenTensor> outputs() const;

  // The masks in its reserve_space, of a problem with random dropout.
  std::vector<std::vector<std::uint8_t>> dropout_masks(const Extents& extents) const;

  std::uint64_t workspace_bytes() const { return call_.workspace_bytes; }

 private:
  struct Memory {
    std::string name{};
    Shape shape{};
    backgauge_dtype dtype = BACKGAUGE_FLOAT32;
    std::unique_ptr<std::byte[]> storage{};
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  using Memories = std::vector<Memory>;

  Memory place(std::string name, Shape shape, backgauge_dtype dtype);
  Memory place_bytes(std::size_t bytes);
  Memories inputs_of(const Problem& problem);
  Memories outputs_of(const OpSpec& spec, Extents extents);
  backgauge_plan ask(backgauge_call& call);
  void give_workspace(backgauge_call& call, const backgauge_plan& plan);
  void make_forward(const Problem& problem);
  void check(const char* function, backgauge_status status, const backgauge_message& message) const;

  const backgauge_implementation& implementation_;
  backgauge_dtype dtype_;
  int threads_;
  std::size_t placed_ = 0;
  Memories inputs_, outputs_, made_;  // made_: what the forward gave
  std::vector<std::byte> reserve_before_;
  std::byte* reserve_ = nullptr;  // restored before every run, if not nullptr
  Memories workspace_;
  std::vector<backgauge_tensor> described_inputs_, described_outputs_;
  backgauge_call call_{};
};

}  // namespace backgauge
