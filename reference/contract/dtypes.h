// SPDX-License-Identifier: Apache-2.0
// The dtypes of floating-point tensors as data, one row each. Shared code asks for the property that it depends on, not
// which dtype it is.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "reference/contract/backgauge.h"

namespace backgauge {

struct FloatFormat {
  double unit_roundoff, least_normal, least_positive, largest;
};

struct DtypeSpec {
  backgauge_dtype dtype;
  std::string_view word;   // in case lines, records and listings
  std::string_view numpy;  // `descr` of its elements in an .npy file
  FloatFormat format;
  // 16 bits. Implementations compute in float or in the dtype, and claim which values they round to it: bounds.md 2.
  bool is_narrow;
  // Arithmetic in it keeps subnormal numbers in every implementation. Results in the other formats may be flushed to 0.
  bool keeps_subnormals;
};

template <class Float>
constexpr FloatFormat format_of() {
  using Numbers = std::numeric_limits<Float>;
  return {static_cast<double>(Numbers::epsilon()) / 2, Numbers::min(), Numbers::denorm_min(), Numbers::max()};
}

// In the order of the enumerators. NumPy has no bfloat16: arrays of ml_dtypes.bfloat16 are saved as 2 bytes of any
// kind.
inline constexpr std::array kDtypeSpecs = {
    DtypeSpec{BACKGAUGE_HALF, "f16", "<f2", {0x1p-11, 0x1p-14, 0x1p-24, 65504}, true, true},
    DtypeSpec{BACKGAUGE_FLOAT32, "f32", "<f4", format_of<float>(), false, false},
    DtypeSpec{BACKGAUGE_FLOAT64, "f64", "<f8", format_of<double>(), false, false},
    DtypeSpec{BACKGAUGE_BFLOAT16, "bf16", "<V2", {0x1p-8, 0x1p-126, 0x1p-133, 0x1.fep127}, true, false},
};

inline constexpr auto kFloatDtypes = [] {
  std::array<backgauge_dtype, kDtypeSpecs.size()> dtypes{};
  for (std::size_t k = 0; k < dtypes.size(); ++k) dtypes[k] = kDtypeSpecs[k].dtype;
  return dtypes;
}();

// The row of a dtype; nullptr for int64 and for unknown numbers.
constexpr const DtypeSpec* find_dtype(std::int32_t dtype) {
  for (const DtypeSpec& spec : kDtypeSpecs) {
    if (spec.dtype == dtype) return &spec;
  }
  return nullptr;
}

constexpr bool is_narrow(std::int32_t dtype) {
  const DtypeSpec* spec = find_dtype(dtype);
  return spec != nullptr && spec->is_narrow;
}

// For int64: integers, exact up to 2^53.
constexpr FloatFormat float_format(backgauge_dtype dtype) {
  const DtypeSpec* spec = find_dtype(dtype);
  return spec != nullptr ? spec->format : FloatFormat{0, 1, 1, 0x1p53};
}

}  // namespace backgauge
