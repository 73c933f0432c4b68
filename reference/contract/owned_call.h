// SPDX-License-Identifier: Apache-2.0
// A backgauge_call made from the table of its op, without or with host memory. It may be changed afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge {

// Everything that determines a call, except its values.
struct CallSetup {
  backgauge_op op = kFirstOp;
  backgauge_dtype dtype = BACKGAUGE_FLOAT32;
  backgauge_attributes attributes{};
  Extents extents;  // params_length and reserve_length are filled in by OwnedCall
};

// Like backgauge_implementation::prepare.
using PrepareFunction = std::function<backgauge_status(const backgauge_call*, backgauge_plan*, backgauge_message*)>;

// A call without memory, as it is passed to prepare.
class DescribedCall {
 public:
  // On input a legal setup, and prepare of the implementation that will get the call (std::runtime_error if that
  // refuses it); without one there is no workspace, and reserve_space has kReserveLength elements.
  // On output every tensor is described; only seq_len_max has memory.
  explicit DescribedCall(CallSetup setup, const PrepareFunction& prepare = nullptr);
  DescribedCall(const DescribedCall&) = delete;
  DescribedCall& operator=(const DescribedCall&) = delete;

  backgauge_call call{};
  backgauge_plan plan{};
  std::vector<backgauge_tensor> inputs;  // after adding or removing one: link()
  std::vector<backgauge_tensor> outputs;

  // Makes `call` point to the current `inputs` and `outputs`.
  void link();

  std::int64_t& seq_len_max() { return seq_len_max_; }
  const std::int64_t& seq_len_max() const { return seq_len_max_; }

  static constexpr std::int64_t kReserveLength = 7;

 private:
  std::int64_t seq_len_max_ = 0;
};

// That many bytes, aligned for every dtype and filled with OwnedCall::kFill, which live as long as the call.
using InputMemory = std::function<std::byte*(std::size_t bytes)>;

class OwnedCall : public DescribedCall {
 public:
  // On output all memory but seq_len_max is filled with kFill. Every tensor has its own buffer, twice as large as the
  // largest tensor, so that a call that is wrongly accepted stays inside. `input_memory`: allocates the buffers of
  // inputs; without one they belong to the call.
  explicit OwnedCall(const CallSetup& setup, const PrepareFunction& prepare = nullptr,
                     const InputMemory& input_memory = nullptr);

  // Whether every byte of every tensor in the call's own memory is unchanged since construction.
  bool untouched() const;

  static constexpr unsigned char kFill = 0x5a;

 private:
  std::vector<std::vector<std::uint64_t>> buffers_;  // of full words, aligned for every dtype
  std::vector<unsigned char> workspace_;
};

}  // namespace backgauge
