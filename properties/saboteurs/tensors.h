// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a variant, as copies in the type of the computation. Also the faults that concern memory and
// not the equations.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "properties/saboteurs/variant.h"
#include "reference/contract/storage.h"

namespace backgauge::saboteurs {

// Upstream gradients.
inline bool is_upstream(std::string_view name) {
  return name == "cs_grad" || name == "h_grad" || name.ends_with("_backprop");
}

// Values that the forward pass has saved.
inline bool is_saved(std::string_view name) {
  return name == "i" || name == "f" || name == "o" || name == "ci" || name == "co" || name == "cs" || name == "h";
}

template <class Real>
class Tensors {
 public:
  Tensors(const Variant& variant, const backgauge_call& call) : variant_(variant), call_(call) {}

  const backgauge_tensor& input(const char* name) const {
    return *backgauge_find(call_.inputs, call_.num_inputs, name);
  }
  const backgauge_tensor& output(const char* name) const {
    return *backgauge_find(call_.outputs, call_.num_outputs, name);
  }

  std::vector<Real> read(const char* name) const {
    const backgauge_tensor& tensor = input(name);
    std::vector<Real> values(elements(tensor));
    const std::byte* from = static_cast<const std::byte*>(tensor.data);
    if (variant_.fault == Fault::kH12) {
      const auto address = reinterpret_cast<std::uintptr_t>(from);
      from -= address % 16 / bytes(tensor) * bytes(tensor);
    }
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = load(tensor, from, k);
    if (variant_.fault == Fault::kH10 && is_upstream(name) && tensor.rank >= 2) read_past_the_end(tensor, from);
    const bool scrubbed =
        (variant_.fault == Fault::kH21 && is_upstream(name)) || (variant_.fault == Fault::kH21b && is_saved(name));
    for (Real& value : values) {
      if (scrubbed && !std::isfinite(value)) value = 0;
    }
    return values;
  }

  // Overwrites an output.
  void write(const char* name, const std::vector<Real>& values) const {
    const std::vector<bool> all(values.size(), true);
    write(name, values, all);
  }

  // Overwrites some elements of an output.
  void write(const char* name, const std::vector<Real>& values, const std::vector<bool>& which) const {
    const backgauge_tensor& tensor = output(name);
    std::byte* to = static_cast<std::byte*>(tensor.data);
    for (int times = variant_.style.written_twice ? 2 : 1; times > 0; --times) {
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!which[k]) continue;
        Real value = values[k];
        if (variant_.fault == Fault::kD5) value += load(tensor, to, k);
        store(tensor, to, k, value);
      }
    }
    const bool narrow = tensor.rank > 0 && tensor.shape[tensor.rank - 1] <= 5 && !values.empty();
    if (variant_.fault == Fault::kH11 && narrow) {
      const std::size_t row = static_cast<std::size_t>(tensor.shape[tensor.rank - 1]);
      for (std::size_t k = row; k < 8; ++k) store(tensor, to, values.size() - row + k, values.back());
    }
  }

  // Sets an output to 0 before the inputs have been read.
  void clear(const char* name) const {
    const backgauge_tensor& tensor = output(name);
    if (elements(tensor) > 0) std::memset(tensor.data, 0, elements(tensor) * bytes(tensor));
  }

  // The current contents of an output.
  std::vector<Real> standing(const char* name) const {
    const backgauge_tensor& tensor = output(name);
    std::vector<Real> values(elements(tensor));
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = load(tensor, static_cast<const std::byte*>(tensor.data), k);
    }
    return values;
  }

  // Changes the first element of an input, which the contract forbids.
  void change_input(const char* name) const {
    const backgauge_tensor& tensor = input(name);
    if (elements(tensor) > 0) store(tensor, static_cast<std::byte*>(tensor.data), 0, Real(0.25));
  }

 private:
  // Reads the rows that are missing from a group of 4.
  static void read_past_the_end(const backgauge_tensor& tensor, const std::byte* data) {
    if (elements(tensor) == 0) return;
    const std::int64_t missing = (4 - tensor.shape[tensor.rank - 2] % 4) % 4 * tensor.shape[tensor.rank - 1];
    const volatile std::byte* end = data + elements(tensor) * bytes(tensor);
    for (std::size_t k = 0; k < static_cast<std::size_t>(missing) * bytes(tensor); ++k) (void)end[k];
  }

  static std::size_t elements(const backgauge_tensor& tensor) {
    return static_cast<std::size_t>(backgauge_elements(&tensor));
  }
  static std::size_t bytes(const backgauge_tensor& tensor) { return backgauge_dtype_bytes(tensor.dtype); }

  Real flushed(Real value) const {
    const bool subnormal = value != 0 && std::fabs(value) < std::numeric_limits<Real>::min();
    return variant_.style.flush_subnormals && subnormal ? std::copysign(Real(0), value) : value;
  }

  Real load(const backgauge_tensor& tensor, const std::byte* data, std::size_t k) const {
    double value = 0;
    decode(static_cast<backgauge_dtype>(tensor.dtype), data + k * bytes(tensor), {&value, 1});
    return flushed(static_cast<Real>(value));
  }

  void store(const backgauge_tensor& tensor, std::byte* data, std::size_t k, Real result) const {
    double value = static_cast<double>(flushed(result));
    const bool half = tensor.dtype == BACKGAUGE_HALF, bfloat16 = tensor.dtype == BACKGAUGE_BFLOAT16;
    if (variant_.fault == Fault::kJ11 && half && std::fabs(value) < 0x1p-14) value = 0;  // the least normal number
    if (variant_.fault == Fault::kJ12 && bfloat16) value = truncated(value);
    if (variant_.fault == Fault::kJ13 && bfloat16) value = round_to(BACKGAUGE_HALF, value);
    encode(static_cast<backgauge_dtype>(tensor.dtype), {&value, 1}, data + k * bytes(tensor));
  }

  // Without the digits that bfloat16 lacks.
  static double truncated(double value) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xffff0000u;
    return static_cast<double>(std::bit_cast<float>(bits));
  }

  const Variant& variant_;
  const backgauge_call& call_;
};

}  // namespace backgauge::saboteurs
