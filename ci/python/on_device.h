// SPDX-License-Identifier: Apache-2.0
// Device memory for Python: the package's own arrays, and those of other libraries that DLPack describes. Streams are
// handles of CUDA. All functions throw device::Error; the caller of those that return objects holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "reference/contract/backgauge.h"

namespace backgauge::python {

enum class Direction { kToDevice = 1, kToHost = 2, kWithin = 3 };  // cudaMemcpyKind

// In order on the stream; does nothing for 0 bytes.
void copy(void* to, const void* from, std::size_t bytes, Direction direction, void* stream);

void synchronize(void* stream);

// The memory of a tensor of a call, as make(address, shape, word of the dtype, stream) describes it.
nanobind::object array_on_device(const nanobind::object& make, const backgauge_tensor& tensor, void* stream);

// Adds the functions device_..., dlpack_of and described_by_dlpack to the module.
void add_device_functions(nanobind::module_& module);

}  // namespace backgauge::python
