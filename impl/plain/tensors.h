// SPDX-License-Identifier: Apache-2.0
// Tensors of a call as vectors in the type of the computation: double for float64, float for all others. Reading
// copies, and writing rounds once per element, so outputs may share memory with inputs.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge::plain {

inline const backgauge_tensor& input(const backgauge_call& call, const char* name) {
  return *backgauge_find(call.inputs, call.num_inputs, name);
}

inline const backgauge_tensor& output(const backgauge_call& call, const char* name) {
  return *backgauge_find(call.outputs, call.num_outputs, name);
}

// Reads the first `count` elements.
template <class Real>
std::vector<Real> read(const backgauge_call& call, const char* name, std::int64_t count) {
  const backgauge_tensor& tensor = input(call, name);
  std::vector<Real> values(static_cast<std::size_t>(count));
  if (tensor.dtype == BACKGAUGE_HALF) {
    const auto* halves = static_cast<const std::uint16_t*>(tensor.data);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = backgauge_half_to_float(halves[k]);
  } else if (tensor.dtype == BACKGAUGE_BFLOAT16) {
    const auto* bfloats = static_cast<const std::uint16_t*>(tensor.data);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = backgauge_bfloat16_to_float(bfloats[k]);
  } else if (!values.empty()) {
    std::memcpy(values.data(), tensor.data, values.size() * sizeof(Real));
  }
  return values;
}

template <class Real>
std::vector<Real> read(const backgauge_call& call, const char* name) {
  return read<Real>(call, name, backgauge_elements(&input(call, name)));
}

template <class Real>
void write(const backgauge_call& call, const char* name, const std::vector<Real>& values) {
  const backgauge_tensor& tensor = output(call, name);
  if (tensor.dtype == BACKGAUGE_HALF) {
    auto* halves = static_cast<std::uint16_t*>(tensor.data);
    for (std::size_t k = 0; k < values.size(); ++k) halves[k] = backgauge_float_to_half(static_cast<float>(values[k]));
  } else if (tensor.dtype == BACKGAUGE_BFLOAT16) {
    auto* bfloats = static_cast<std::uint16_t*>(tensor.data);
    for (std::size_t k = 0; k < values.size(); ++k) {
      bfloats[k] = backgauge_float_to_bfloat16(static_cast<float>(values[k]));
    }
  } else if (!values.empty()) {
    std::memcpy(tensor.data, values.data(), values.size() * sizeof(Real));
  }
}

}  // namespace backgauge::plain
