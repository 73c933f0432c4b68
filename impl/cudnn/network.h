// SPDX-License-Identifier: Apache-2.0
// One RNN in cuDNN's terms: descriptors, sizes, and the layout of its weights. reference/semantics.md section 5.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "impl/cudnn/library.h"
#include "reference/contract/op_spec.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::cudnn {

// Everything that determines what cuDNN needs and does, except values.
struct NetworkShape {
  std::int32_t mode, dtype, direction;  // of the contract
  bool skip;                            // auto_select resolved
  cudnnRNNAlgo_t algorithm;
  cudnnMathType_t math;
  float dropout;  // 0 where there is only one layer
  std::int64_t T, B, I, H, L;

  auto operator<=>(const NetworkShape&) const = default;

  std::int64_t directions() const { return direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1; }
  std::size_t element_bytes() const { return backgauge_dtype_bytes(dtype); }
  RnnParams params() const;
};

// cuDNN knows no width of 0: a call with I = 0 has the shape of one with I = 1. The algorithm is STANDARD.
NetworkShape shape_of(const backgauge_call& call, const Extents& extents);

// Bytes.
struct NetworkSizes {
  std::size_t weights, workspace, reserve, states;
};

// Settings that the contract does not have. The defaults are those of the implementation.
struct NetworkVariant {
  cudnnRNNDataLayout_t layout = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  std::uint32_t flags = CUDNN_RNN_PADDED_IO_DISABLED;
};

class Network {
 public:
  // states: of dropout, `states` bytes of the device, which are only named; NULL with dropout 0. Throws CallError where
  // cuDNN does not take the shape.
  Network(const NetworkShape& shape, cudnnHandle_t handle, void* states, const NetworkVariant& variant = {});

  // Before a forward: the states of dropout begin with the seed, on the stream of the handle.
  void draw_masks_anew(std::uint64_t seed);

  // Asks cuDNN.
  NetworkSizes sizes() const;

  // Throws CallError with both numbers where a size or a place of cuDNN's is not that of rnn_params.
  void check_layout() const;

  cudnnHandle_t handle() const { return handle_; }
  cudnnRNNDescriptor_t rnn() const { return rnn_; }
  cudnnRNNDataDescriptor_t x() const { return x_; }
  cudnnRNNDataDescriptor_t y() const { return y_; }
  cudnnTensorDescriptor_t h() const { return h_; }

 private:
  void describe();

  NetworkShape shape_;
  cudnnHandle_t handle_;
  void* states_;
  std::uint32_t flags_;
  DropoutDescriptor dropout_;
  RnnDescriptor rnn_;
  RnnDataDescriptor x_, y_;
  TensorDescriptor h_;
};

// The math type of a dtype: cuDNN's own choice of half is slow, and half and bfloat16 on tensor cores are what PyTorch
// asks for. `float32`: that of float32.
cudnnMathType_t math_of(std::int32_t dtype, cudnnMathType_t float32);

}  // namespace backgauge::cudnn
