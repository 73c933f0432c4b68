// SPDX-License-Identifier: Apache-2.0
// Arrays between Python and the reference.
#pragma once

#include <nanobind/nanobind.h>

#include "reference/contract/call.h"
#include "reference/oracle.h"

namespace backgauge::python {

// The memory of a tensor of a call as an array of NumPy, which does not own it; bfloat16 as uint16.
enum class Access { kRead, kWrite };
nanobind::object memory_of(const backgauge_tensor& tensor, Access access);

// A tensor of a problem as (word of the dtype, array of NumPy that owns its memory); bfloat16 as uint16. An int64
// scalar is an int instead of an array.
nanobind::tuple owned_array(const Tensor& tensor, backgauge_dtype dtype);

// All masks, uint8 [L-1, T, B, D*H] or, one for each direction of the layer above, [(L-1)*D, T, B, D*H]; None if there
// are none.
nanobind::object masks_of(const Problem& problem);

// What `compute` returns, which runs without the GIL of the caller.
template <class Compute>
decltype(auto) without_gil(Compute compute) {
  const nanobind::gil_scoped_release released;
  return compute();
}

// [(name, values, allowed), ...]; both in float64.
nanobind::list listed(const std::vector<Wanted>& wanted);

}  // namespace backgauge::python
