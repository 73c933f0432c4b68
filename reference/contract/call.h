// SPDX-License-Identifier: Apache-2.0
// C++ views of one call.
//   Problem       owns the values of the inputs, in double: the oracle evaluates it, and the judge runs it
//   <Op>Call<S>   the tensors of a backgauge_call as typed pointers under their own names, made from ops.inc
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/contract/op_spec.h"
#include "reference/contract/ops.inc"

namespace backgauge {

// Values are exactly representable in the storage dtype: rounding to it again changes nothing.
struct Tensor {
  std::string name;
  Shape shape;
  std::vector<double> values;
};

struct Problem {
  backgauge_op op = kFirstOp;
  backgauge_dtype dtype = BACKGAUGE_FLOAT32;
  backgauge_attributes attributes{};
  Extents extents;
  std::vector<Tensor> inputs;  // in the order of the table
  // Dropout masks of the gaps 0..L-2, of mask_shape() each: one for each gap, or, one after the other, one for each
  // direction of the layer that reads it. Empty if nothing is dropped.
  std::vector<std::vector<std::uint8_t>> keep;

  const Tensor* find(std::string_view name) const {
    for (const Tensor& tensor : inputs) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }

  // 0 if nothing is dropped.
  std::size_t masks_per_gap() const {
    return extents.L > 1 ? keep.size() / static_cast<std::size_t>(extents.L - 1) : 0;
  }
  // The mask through which a direction of layer `gap` + 1 reads its input.
  const std::vector<std::uint8_t>& mask(std::int64_t gap, std::int64_t direction) const {
    const std::size_t each = masks_per_gap();
    return keep[static_cast<std::size_t>(gap) * each + static_cast<std::size_t>(direction) % each];
  }
};

// LstmBlockCellGradCall<S>, BlockLstmGradV2Call<S>, CudnnRnnBackpropCall<S>, CudnnRnnCall<S>: one pointer per tensor,
// nullptr where absent; shapes are those of ops.inc. T, B, I, H, ... are inherited.
#define BACKGAUGE_IN_FIELD(name, role, present, read, ...) const Scalar* name = nullptr;
#define BACKGAUGE_INT64_FIELD(name) const std::int64_t* name = nullptr;
#define BACKGAUGE_OUT_FIELD(name, role, present, live, alias, ...) Scalar* name = nullptr;
#define BACKGAUGE_IN_BIND(name, role, present, read, ...) call.name = inputs.data<const Scalar>(#name);
#define BACKGAUGE_INT64_BIND(name) call.name = inputs.data<const std::int64_t>(#name);
#define BACKGAUGE_OUT_BIND(name, role, present, live, alias, ...) call.name = outputs.data<Scalar>(#name);

namespace detail {
// A tensor list of a validated call, whose tensors are requested in the order of the op's table.
class InOrder {
 public:
  InOrder(const backgauge_tensor* tensors, std::int32_t count) : next_(tensors), end_(tensors + count) {}

  template <class Scalar>
  Scalar* data(std::string_view name) {
    return next_ != end_ && name == next_->name ? static_cast<Scalar*>((next_++)->data) : nullptr;
  }

 private:
  const backgauge_tensor *next_, *end_;
};
}  // namespace detail

// bind() takes a validated call and its extents.
#define BACKGAUGE_TYPED_CALL(Name, TENSORS, enumerator, word, tensorflow, dtypes, ...) \
  template <class Scalar>                                                              \
  struct Name##Call : Extents {                                                        \
    TENSORS(BACKGAUGE_IN_FIELD, BACKGAUGE_INT64_FIELD, BACKGAUGE_OUT_FIELD)            \
    backgauge_attributes attributes{};                                                 \
    int num_threads = 1;                                                               \
    void* workspace = nullptr;                                                         \
                                                                                       \
    static Name##Call bind(const backgauge_call& c, const Extents& extents) {          \
      Name##Call call;                                                                 \
      static_cast<Extents&>(call) = extents;                                           \
      call.attributes = c.attributes;                                                  \
      call.num_threads = c.num_threads;                                                \
      call.workspace = c.workspace;                                                    \
      detail::InOrder inputs(c.inputs, c.num_inputs);                                  \
      detail::InOrder outputs(c.outputs, c.num_outputs);                               \
      TENSORS(BACKGAUGE_IN_BIND, BACKGAUGE_INT64_BIND, BACKGAUGE_OUT_BIND)             \
      return call;                                                                     \
    }                                                                                  \
  };
BACKGAUGE_OPS(BACKGAUGE_TYPED_CALL)

#undef BACKGAUGE_TYPED_CALL
#undef BACKGAUGE_IN_FIELD
#undef BACKGAUGE_INT64_FIELD
#undef BACKGAUGE_OUT_FIELD
#undef BACKGAUGE_IN_BIND
#undef BACKGAUGE_INT64_BIND
#undef BACKGAUGE_OUT_BIND

}  // namespace backgauge
