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

// Sums are float, of doubles double; a half or float result is rounded once. Operands are of one type; the result is of
// the same, or float of half operands. Float operands are read as they are, or rounded to TF32 (math.h).
struct Product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  Type operands = Type::kFloat, result = Type::kFloat;
  bool a_transposed = false;  // a lies in memory as [depth, rows]
  bool b_transposed = false;  // b lies in memory as [columns, depth]
  bool added = false;         // to what the result holds, which is of the type of the operands or float
  // Elements from row to row in memory.
  std::int64_t a_stride = 0, b_stride = 0, result_stride = 0;
  // Matrices begin at multiples of 16 bytes; otherwise of their elements' size. The order of a sum may depend on it.
  bool aligned = false;

  auto operator<=>(const Product&) const = default;
};

// Where the matrices lie in device memory: their addresses, or addresses in device memory of their addresses, which are
// read when the product is computed.
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
