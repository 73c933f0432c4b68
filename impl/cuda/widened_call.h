// SPDX-License-Identifier: Apache-2.0
// The float call that computes a half or bfloat16 call without narrowing: its tensors are widened into the workspace,
// its outputs rounded once at the end. So outputs may share memory with inputs as the contract allows, and nothing
// depends on the placement of tensors. reserve_space holds floats in both calls.
#pragma once

#include <vector>

#include "impl/cuda/device/work.h"
#include "impl/cuda/workspace.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cuda {

class WidenedCall {
 public:
  // call: with half or bfloat16 tensors; call and extents as in ops.h.
  WidenedCall(const backgauge_call& call, const Extents& extents, Workspace& workspace);
  WidenedCall(const WidenedCall&) = delete;
  WidenedCall& operator=(const WidenedCall&) = delete;

  const backgauge_call& call() const { return call_; }

  // To be called before and after the work of call(), on its stream.
  void widen_inputs() const;
  void round_outputs() const;

 private:
  void* take(const backgauge_tensor& tensor, Workspace& workspace) const;
  template <class Storage>
  void widen(Queue& queue, std::size_t input) const;
  template <class Storage>
  void round(Queue& queue, std::size_t output) const;

  const backgauge_call& original_;
  backgauge_call call_;
  std::int64_t reserve_bytes_;  // of ops with a reserve_space
  std::vector<backgauge_tensor> inputs_, outputs_;
  std::vector<std::int64_t> read_;  // elements of each input that are read
};

}  // namespace backgauge::cuda
