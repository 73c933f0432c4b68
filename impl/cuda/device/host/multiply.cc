// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/host/multiply.h"

#include <algorithm>
#include <vector>

#include "impl/call_error.h"
#include "impl/cuda/device/kernel.h"
#include "impl/cuda/device/settings.h"
#include "impl/cuda/device/tf32.h"

namespace backgauge::cuda {
namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw CallError(BACKGAUGE_INTERNAL, std::string("product: ") + what);
}

// A copy as [rows, columns] without gaps of a matrix that is stored that way or transposed.
template <class Storage>
std::vector<Compute<Storage>> widened(const void* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                                      bool transposed) {
  const auto* from = static_cast<const Storage*>(data);
  std::vector<Compute<Storage>> out(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t place = transposed ? column * stride + row : row * stride + column;
      out[static_cast<std::size_t>(row * columns + column)] = wide(from[place]);
    }
  }
  if constexpr (std::is_same_v<Storage, float>) {
    if (settings().takes_tf32()) std::ranges::transform(out, out.begin(), to_tf32);
  }
  return out;
}

template <class Storage, class Result>
void multiply_as(const Product& p, const Matrices& m) {
  using Real = Compute<Storage>;
  const std::vector<Real> a = widened<Storage>(m.a, p.rows, p.depth, p.a_stride, p.a_transposed);
  const std::vector<Real> b = widened<Storage>(m.b, p.depth, p.columns, p.b_stride, p.b_transposed);
  auto* const result = static_cast<Result*>(m.result);
  std::vector<Real> sums(static_cast<std::size_t>(p.columns));
  for (std::int64_t row = 0; row < p.rows; ++row) {
    Result* const to = result + row * p.result_stride;
    for (std::int64_t column = 0; column < p.columns; ++column) {
      sums[static_cast<std::size_t>(column)] = p.added ? static_cast<Real>(wide(to[column])) : Real{0};
    }
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const Real factor = a[static_cast<std::size_t>(row * p.depth + k)];
      const Real* const from = b.data() + k * p.columns;
      for (std::int64_t column = 0; column < p.columns; ++column) {
        sums[static_cast<std::size_t>(column)] += factor * from[column];
      }
    }
    for (std::int64_t column = 0; column < p.columns; ++column) {
      to[column] = narrow<Result>(sums[static_cast<std::size_t>(column)]);
    }
  }
}

}  // namespace

void check(const Product& p) {
  expect(p.rows >= 0 && p.columns >= 0 && p.depth >= 0, "sizes below 0");
  expect(p.a_stride >= (p.a_transposed ? p.rows : p.depth), "rows of a overlap");
  expect(p.b_stride >= (p.b_transposed ? p.depth : p.columns), "rows of b overlap");
  expect(p.result_stride >= p.columns, "rows of the result overlap");
  expect(p.operands == p.result || (p.operands == Type::kHalf && p.result == Type::kFloat), "types");
}

void host_multiply(const Product& p, const Matrices& m) {
  if (p.rows == 0 || p.columns == 0) return;
  if (p.aligned) expect(is_aligned(0, 1, m.a, m.b, m.result), "declared aligned and not so");
  switch (p.operands) {
    case Type::kHalf: return p.result == Type::kHalf ? multiply_as<Half, Half>(p, m) : multiply_as<Half, float>(p, m);
    case Type::kFloat: return multiply_as<float, float>(p, m);
    case Type::kDouble: return multiply_as<double, double>(p, m);
  }
}

}  // namespace backgauge::cuda
