// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "impl/cuda/rnn_trace.h"
#include "impl/cuda/rows.h"
#include "impl/cuda/widened_call.h"

namespace backgauge::cuda {
namespace {

bool is_reserve_space(const backgauge_tensor& tensor) { return std::string_view(tensor.name) == "reserve_space"; }
bool is_widened(const backgauge_tensor& tensor) { return is_narrow(tensor.dtype) && !is_reserve_space(tensor); }

// Elements that the op reads of an input.
std::int64_t elements_read(const OpSpec& op, const backgauge_tensor& tensor, const Extents& extents) {
  const auto spec = std::ranges::find(op.inputs, std::string_view(tensor.name), &TensorSpec::name);
  return elements_in_rows(Shape(tensor.shape, tensor.shape + tensor.rank), spec->rows(extents));
}

}  // namespace

WidenedCall::WidenedCall(const backgauge_call& call, const Extents& extents, Workspace& workspace)
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

void* WidenedCall::take(const backgauge_tensor& tensor, Workspace& workspace) const {
  if (is_widened(tensor)) return workspace.take<float>({backgauge_elements(&tensor)});
  if (!is_reserve_space(tensor)) return tensor.data;
  // Used in place, if it is aligned for vectors of floats.
  std::byte* const copy = workspace.take<std::byte>({reserve_bytes_});
  return is_aligned(0, 1, tensor.data) ? tensor.data : copy;
}

template <class Storage>
void WidenedCall::widen(Queue& queue, std::size_t input) const {
  const auto* const from = static_cast<const Storage*>(original_.inputs[input].data);
  const std::int64_t count = read_[input];
  make_rows<Storage>(queue, StoredRows<Storage>{from, count}, static_cast<float*>(inputs_[input].data), 1, count,
                     is_aligned(count, sizeof(Storage), from));
}

template <class Storage>
void WidenedCall::round(Queue& queue, std::size_t output) const {
  const auto* const from = static_cast<const float*>(outputs_[output].data);
  auto* const to = static_cast<Storage*>(original_.outputs[output].data);
  const std::int64_t count = backgauge_elements(&outputs_[output]);
  make_rows<Storage>(queue, ComputedRows<float>{from, nullptr, count}, to, 1, count,
                     is_aligned(count, sizeof(Storage), to));
}

void WidenedCall::widen_inputs() const {
  Work work(call_.stream, nullptr, 0);
  Queue& queue = work.main();
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const void* const from = original_.inputs[k].data;
    void* const to = inputs_[k].data;
    if (to == from) continue;
    if (is_reserve_space(inputs_[k])) {
      queue.copy(to, from, reserve_bytes_);
    } else {
      original_.dtype == BACKGAUGE_HALF ? widen<Half>(queue, k) : widen<Bfloat16>(queue, k);
    }
  }
  work.finish();
}

void WidenedCall::round_outputs() const {
  Work work(call_.stream, nullptr, 0);
  Queue& queue = work.main();
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const void* const from = outputs_[k].data;
    void* const to = original_.outputs[k].data;
    if (to == from) continue;
    if (is_reserve_space(outputs_[k])) {
      queue.copy(to, from, reserve_bytes_);
    } else {
      original_.dtype == BACKGAUGE_HALF ? round<Half>(queue, k) : round<Bfloat16>(queue, k);
    }
  }
  work.finish();
}

}  // namespace backgauge::cuda
