// SPDX-License-Identifier: Apache-2.0
#include "ci/python/arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "ci/run/plan/own_problem.h"
#include "reference/contract/storage.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

nb::dlpack::dtype element_of(backgauge_dtype dtype) {
  // NumPy has no bfloat16: the package views these 16 bits as one.
  if (dtype == BACKGAUGE_BFLOAT16) return nb::dtype<std::uint16_t>();
  if (dtype == BACKGAUGE_INT64) return nb::dtype<std::int64_t>();
  constexpr auto kFloat = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
  return {kFloat, static_cast<std::uint8_t>(8 * backgauge_dtype_bytes(dtype)), 1};
}

// An array of zeros, of which `fill(bytes)` writes what is not 0. calloc() allocates only pages that are written.
template <class Fill>
nb::object new_array(const Shape& shape, nb::dlpack::dtype element, Fill fill) {
  const auto elements = static_cast<std::size_t>(element_count(shape).value());
  void* const memory = std::calloc(std::max<std::size_t>(elements, 1), element.bits / 8);
  if (memory == nullptr) throw std::bad_alloc();
  const nb::capsule owner(memory, [](void* bytes) noexcept { std::free(bytes); });
  fill(static_cast<char*>(memory), elements);
  const std::vector<std::size_t> dimensions(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy>(memory, dimensions.size(), dimensions.data(), owner, nullptr, element));
}

template <class V>
nb::object wide(const Shape& shape, const std::vector<V>& values) {
  return new_array(shape, nb::dtype<double>(),
                   [&](char* memory, std::size_t) { std::ranges::copy(values, reinterpret_cast<double*>(memory)); });
}

}  // namespace

nb::object memory_of(const backgauge_tensor& tensor, Access access) {
  static double nothing = 0;  // the address of an array without elements
  void* const data = tensor.data == nullptr ? &nothing : tensor.data;
  std::size_t shape[BACKGAUGE_MAX_RANK];
  std::copy_n(tensor.shape, tensor.rank, shape);
  const auto rank = static_cast<std::size_t>(tensor.rank);
  const auto as_array = [&]<class... Flags>() {
    return nb::cast(nb::ndarray<nb::numpy, Flags...>(data, rank, shape, nb::handle(), nullptr,
                                                     element_of(static_cast<backgauge_dtype>(tensor.dtype))),
                    nb::rv_policy::reference);
  };
  return access == Access::kRead ? as_array.template operator()<nb::ro>() : as_array.template operator()<>();
}

nb::tuple owned_array(const Tensor& tensor, backgauge_dtype dtype) {
  const nb::str word(dtype_word(dtype).data());
  if (dtype == BACKGAUGE_INT64) return nb::make_tuple(word, static_cast<std::int64_t>(tensor.values.at(0)));
  const nb::dlpack::dtype element = element_of(dtype);
  return nb::make_tuple(word, new_array(tensor.shape, element, [&](char* memory, std::size_t elements) {
                          // A very large tensor has only the values that are read, at its end (inputs.h).
                          const std::size_t left_out = elements - tensor.values.size();
                          encode(dtype, tensor.values, memory + left_out * (element.bits / 8));
                        }));
}

nb::object masks_of(const Problem& problem) {
  if (problem.keep.empty()) return nb::none();
  const auto masks = static_cast<std::int64_t>(problem.keep.size());
  return new_array(cli::shape_of_keep(problem.extents, masks), nb::dtype<std::uint8_t>(),
                   [&](char* memory, std::size_t) {
                     for (const std::vector<std::uint8_t>& mask : problem.keep)
                       memory = std::ranges::copy(mask, memory).out;
                   });
}

nb::list listed(const std::vector<Wanted>& wanted) {
  nb::list out;
  for (const Wanted& each : wanted) {
    out.append(nb::make_tuple(each.name, wide(each.shape, each.value), wide(each.shape, each.allowed)));
  }
  return out;
}

}  // namespace backgauge::python
