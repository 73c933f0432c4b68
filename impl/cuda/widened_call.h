// SPDX-License-Identifier: Apache-2.0
// The float call that computes a half or bfloat16 call without narrowing: its tensors are widened into the workspace,
// its outputs rounded once at the end. So outputs may share memory with inputs as the contract allows, and nothing
// depends on the placement of tensors. reserve_space holds floats in both calls.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "impl/cuda/rnn_trace.h"
#include "impl/cuda/rows.h"

namespace backgauge::cuda {

class WidenedCall {
 public:
  // call: with half or bfloat16 tensors; call and extents as in ops.h.
  WidenedCall(const backgauge_call& call, const Extents& extents, Workspace& workspace)
      : original_(call),
        call_(call),
        reserve_bytes_(reserve_length<float>(rnn_sizes(extents, call.attributes)) *
                       static_cast<std::int64_t>(sizeof(float))),
        inputs_(call.inputs, call.inputs + call.num_inputs),
        outputs_(call.outputs, call.outputs + call.num_outputs) {
    const OpSpec& op = *find_op(call.op);
    for (backgauge_tensor& tensor : inputs_) {
      read_.push_back(is_widened(tensor) ? elements_read(op, tensor, extents) : 0);
      tensor.data = take(tensor, workspace);
    }
    for (backgauge_tensor& tensor : outputs_) tensor.data = take(tensor, workspace);
    call_.dtype = BACKGAUGE_FLOAT32;
    call_.inputs = inputs_.data();
    call_.outputs = outputs_.data();
  }
  WidenedCall(const WidenedCall&) = delete;
  WidenedCall& operator=(const WidenedCall&) = delete;

  const backgauge_call& call() const { return call_; }

  // To be called before and after the work of call(), on its stream.
  void widen_inputs() const {
    copy_each(original_.inputs, inputs_.data(), inputs_.size(), [this](Queue& queue, std::size_t k) {
      original_.dtype == BACKGAUGE_HALF ? widen<Half>(queue, k) : widen<Bfloat16>(queue, k);
    });
  }
  void round_outputs() const {
    copy_each(outputs_.data(), original_.outputs, outputs_.size(), [this](Queue& queue, std::size_t k) {
      original_.dtype == BACKGAUGE_HALF ? round<Half>(queue, k) : round<Bfloat16>(queue, k);
    });
  }

 private:
  static bool is_reserve_space(const backgauge_tensor& tensor) {
    return std::string_view(tensor.name) == "reserve_space";
  }
  static bool is_widened(const backgauge_tensor& tensor) {
    return is_narrow(tensor.dtype) && !is_reserve_space(tensor);
  }

  // Elements that the op reads of an input.
  static std::int64_t elements_read(const OpSpec& op, const backgauge_tensor& tensor, const Extents& extents) {
    const auto spec = std::ranges::find(op.inputs, std::string_view(tensor.name), &TensorSpec::name);
    return elements_in_rows(Shape(tensor.shape, tensor.shape + tensor.rank), spec->rows(extents));
  }

  void* take(const backgauge_tensor& tensor, Workspace& workspace) const {
    if (is_widened(tensor)) return workspace.take<float>({backgauge_elements(&tensor)});
    if (!is_reserve_space(tensor)) return tensor.data;
    // Used in place, if it is aligned for vectors of floats.
    std::byte* const copy = workspace.take<std::byte>({reserve_bytes_});
    return is_aligned(0, 1, tensor.data) ? tensor.data : copy;
  }

  // Copies all tensors that are not used in place: convert(queue, k), or as they are.
  template <class Convert>
  void copy_each(const backgauge_tensor* from, const backgauge_tensor* to, std::size_t count,
                 const Convert& convert) const {
    Work work(call_.stream, nullptr, 0);
    Queue& queue = work.main();
    for (std::size_t k = 0; k < count; ++k) {
      if (to[k].data == from[k].data) continue;
      if (is_reserve_space(to[k])) {
        queue.copy(to[k].data, from[k].data, reserve_bytes_);
      } else {
        convert(queue, k);
      }
    }
    work.finish();
  }

  template <class Storage>
  void widen(Queue& queue, std::size_t input) const {
    const auto* const from = static_cast<const Storage*>(original_.inputs[input].data);
    const std::int64_t count = read_[input];
    make_rows<Storage>(queue, StoredRows<Storage>{from, count}, static_cast<float*>(inputs_[input].data), 1, count,
                       is_aligned(count, sizeof(Storage), from));
  }

  template <class Storage>
  void round(Queue& queue, std::size_t output) const {
    const auto* const from = static_cast<const float*>(outputs_[output].data);
    auto* const to = static_cast<Storage*>(original_.outputs[output].data);
    const std::int64_t count = backgauge_elements(&outputs_[output]);
    make_rows<Storage>(queue, ComputedRows<float>{from, nullptr, count}, to, 1, count,
                       is_aligned(count, sizeof(Storage), to));
  }

  const backgauge_call& original_;
  backgauge_call call_;
  std::int64_t reserve_bytes_;  // of ops with a reserve_space
  std::vector<backgauge_tensor> inputs_, outputs_;
  std::vector<std::int64_t> read_;  // elements of each input that are read
};

}  // namespace backgauge::cuda
