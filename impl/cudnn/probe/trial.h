// SPDX-License-Identifier: Apache-2.0
// A small network with random weights and inputs on the device, whose passes can be called one by one and in odd ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "impl/cudnn/network.h"

namespace backgauge::cudnn {

using Bytes = std::vector<std::byte>;

// The bytes of a device buffer now.
Bytes bytes_of(const DeviceMemory& memory);

// Elements as numbers.
std::vector<double> values_of(const DeviceMemory& memory, std::int32_t dtype);

// Bytes that differ, or the size of the longer one where sizes do.
std::size_t differing(const Bytes& a, const Bytes& b);

void store(const DeviceMemory& memory, std::int32_t dtype, const std::vector<double>& values);

NetworkShape trial_shape(std::int32_t mode, std::int32_t dtype);

class Trial {
 public:
  // `rounded_to`: the dtype whose numbers all values are; the shape's own if 0.
  explicit Trial(const NetworkShape& shape, std::int32_t rounded_to = 0);

  // Throw CallError.
  void forward(const std::int32_t* device_lengths = nullptr, bool draw_anew = true);
  void backward_data();
  void backward_weights(cudnnWgradMode_t mode = CUDNN_WGRAD_MODE_ADD, bool clear = true);
  void backward() {
    backward_data();
    backward_weights();
  }
  void run() {
    forward();
    backward();
  }

  const NetworkShape shape;
  NetworkSizes sizes;  // the sizes that cuDNN gets
  NetworkVariant variant{};
  bool has_states = true;  // else hx, cx, dhy, dcy are NULL
  DeviceMemory x, hx, cx, weights, y, hy, cy, dy, dhy, dcy, dx, dhx, dcx, dw, workspace, reserve, states;

 private:
  const void* state(const DeviceMemory& memory) const { return has_states ? memory.data() : nullptr; }
  const void* cell(const DeviceMemory& memory) const {
    return has_states && shape.mode == BACKGAUGE_LSTM ? memory.data() : nullptr;
  }
};

}  // namespace backgauge::cudnn
