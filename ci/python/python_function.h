// SPDX-License-Identifier: Apache-2.0
// A function of Python that implements an op, as backgauge.implements describes it, and what it is called with.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ci/python/arrays.h"
#include "reference/contract/backgauge.h"

namespace backgauge::python {

// The dropout masks, [L-1, T, B, D*H] or where masks_per_direction is claimed [(L-1)*D, T, B, D*H], bytes of 1 and 0;
// None where nothing is dropped.
inline constexpr std::string_view kKeep = "dropout_keep";

struct Function {
  std::int32_t op = 0;
  std::string name;
  std::vector<std::string> parameters;
  nanobind::object compute, compute_nothing, prepare, prepare_nothing, refuse, reserve_space_length;
  nanobind::object on_device;  // makes an array of device memory (on_device.h); None: it computes in host memory
  bool staged = false;
  bool refuses = false;

  std::int32_t memory_space() const { return on_device.is_none() ? BACKGAUGE_HOST : BACKGAUGE_CUDA; }
  // A tensor of a call, which lies there.
  nanobind::object array(const backgauge_tensor& tensor, Access access, void* stream) const;
  bool takes(std::string_view parameter) const { return std::ranges::find(parameters, parameter) != parameters.end(); }
};

// From a description of the package. Stops the process with a message if the op is unknown, or if a parameter is not a
// name of the op.
Function function_of(const nanobind::handle& given);

// Everything besides tensors that a function may take.
nanobind::dict attributes_of(const backgauge_call& call);

// Parameter to value, for the parameters of the function: tensors as arrays over their memory, None for a tensor that
// the call does not have; `keep` for kKeep.
nanobind::dict arguments_of(const Function& function, const backgauge_call& call, const nanobind::object& keep);

}  // namespace backgauge::python
