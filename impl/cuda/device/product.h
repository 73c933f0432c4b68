// SPDX-License-Identifier: Apache-2.0
// A product of row-major matrices, as data: result[rows, columns] = a[rows, depth] b[depth, columns].
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>

#include "reference/contract/narrow.h"

namespace backgauge::cuda {

enum class Type { kHalf, kFloat, kDouble };

template <class Storage>
inline constexpr Type kType = std::is_same_v<Storage, Half>    ? Type::kHalf
                              : std::is_same_v<Storage, float> ? Type::kFloat
                                                               : Type::kDouble;

inline std::int64_t bytes_of(Type type) { return type == Type::kHalf ? 2 : type == Type::kFloat ? 4 : 8; }

// Sums are float, or double for doubles; a half or float result is rounded once. Both operands have one type; the
// result has the same, or float for half operands. Float operands are read unchanged, or rounded to TF32 (settings.h).
struct Product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  Type operands = Type::kFloat, result = Type::kFloat;
  bool a_transposed = false;  // a is stored as [depth, rows]
  bool b_transposed = false;  // b is stored as [columns, depth]
  bool added = false;         // to the previous contents of the result, of the type of the operands or float
  // Elements between rows in memory.
  std::int64_t a_stride = 0, b_stride = 0, result_stride = 0;
  // Matrices are aligned to 16 bytes; otherwise to their element size. The order of a sum may depend on it.
  bool aligned = false;

  auto operator<=>(const Product&) const = default;
};

// The addresses of the matrices in device memory, or the device addresses of these addresses, which are read when the
// product is computed.
struct Matrices {
  const void* a = nullptr;
  const void* b = nullptr;
  void* result = nullptr;
};
struct IndirectMatrices {
  const void* const* a = nullptr;
  const void* const* b = nullptr;
  void* const* result = nullptr;
};

}  // namespace backgauge::cuda
