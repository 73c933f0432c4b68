// SPDX-License-Identifier: Apache-2.0
#include "ci/python/on_device.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "properties/device/device.h"
#include "properties/device/runtime.h"
#include "reference/contract/op_spec.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

constexpr std::size_t kAlignment = 256;  // cudaMalloc's own

// The same as a part of the module: addresses and streams are numbers there.
void copy_numbers(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, int direction, std::uintptr_t stream) {
  copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, static_cast<Direction>(direction),
       reinterpret_cast<void*>(stream));
}

void synchronize_number(std::uintptr_t stream) { synchronize(reinterpret_cast<void*>(stream)); }

// A stream for copies that belong to no call.
std::uintptr_t own_stream() {
  static const auto* const stream = new device::Stream;
  return reinterpret_cast<std::uintptr_t>(stream->get());
}

// (address, owner) of new memory, which lasts as long as the owner.
nb::tuple new_memory(std::size_t bytes) {
  auto memory = std::make_unique<device::Memory>(bytes, kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory->data());
  const nb::capsule owner(memory.release(), [](void* of) noexcept { delete static_cast<device::Memory*>(of); });
  return nb::make_tuple(address, owner);
}

// A capsule of DLPack, without a version, for contiguous memory. Its consumer may write, since consumers refuse memory
// that they may not: what is changed is found after the call. The memory lasts as long as `owner`, or is a call's.
nb::object dlpack_of(std::uintptr_t address, const std::vector<std::size_t>& shape, int code, int bits,
                     const nb::object& owner) {
  const nb::dlpack::dtype element{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  return nb::cast(nb::ndarray<nb::device::cuda>(reinterpret_cast<void*>(address), shape.size(), shape.data(),
                                                owner.is_none() ? nb::handle() : nb::handle(owner), nullptr, element),
                  nb::rv_policy::reference);
}

// (address, shape, strides in elements, code, bits, lanes, owner) of what a capsule of DLPack holds, which is used up;
// its memory lasts as long as the owner.
nb::tuple described_by_dlpack(const nb::object& capsule) {
  const auto array = nb::cast<nb::ndarray<nb::ro>>(capsule);
  nb::list shape, strides;
  for (std::size_t k = 0; k < array.ndim(); ++k) {
    shape.append(array.shape(k));
    strides.append(array.stride(k));
  }
  const nb::dlpack::dtype element = array.dtype();
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), nb::tuple(shape), nb::tuple(strides),
                        static_cast<int>(element.code), static_cast<int>(element.bits), static_cast<int>(element.lanes),
                        nb::cast(array, nb::rv_policy::reference));
}

}  // namespace

void copy(void* to, const void* from, std::size_t bytes, Direction direction, void* stream) {
  if (bytes == 0) return;
  device::check(device::runtime().cudaMemcpyAsync(to, from, bytes, static_cast<int>(direction), stream),
                "cudaMemcpyAsync");
}

void synchronize(void* stream) {
  device::check(device::runtime().cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

nb::object array_on_device(const nb::object& make, const backgauge_tensor& tensor, void* stream) {
  nb::list extents;
  for (std::int32_t k = 0; k < tensor.rank; ++k) extents.append(tensor.shape[k]);
  return make(reinterpret_cast<std::uintptr_t>(tensor.data), nb::tuple(extents), dtype_word(tensor.dtype).data(),
              reinterpret_cast<std::uintptr_t>(stream));
}

void add_device_functions(nb::module_& module) {
  using Released = nb::call_guard<nb::gil_scoped_release>;
  module.def("device_copy", &copy_numbers, Released());
  module.def("device_synchronize", &synchronize_number, Released());
  module.def("device_stream", &own_stream);
  module.def("device_memory", &new_memory);
  module.def("dlpack_of", &dlpack_of, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("described_by_dlpack", &described_by_dlpack);
}

}  // namespace backgauge::python
