// SPDX-License-Identifier: Apache-2.0
// Matrices as operands of products. If float products are three products of TF32 (device/settings.h), a float operand
// is stored in two parts that TF32 can represent: x = high + low, up to 2^-22 of x. reference/arithmetic/bounds.md 2.1.
#pragma once

#include <concepts>

#include "impl/cuda/device/settings.h"
#include "impl/cuda/device/tf32.h"
#include "impl/cuda/device/work.h"
#include "impl/cuda/workspace.h"

namespace backgauge::cuda {

template <class Element>
struct Operand {
  Element* data = nullptr;  // the matrix, or the upper parts of a split matrix
  std::int64_t low = 0;     // elements from each upper part to its lower part; 0: not split

  BACKGAUGE_BOTH Operand operator+(std::int64_t elements) const { return {data + elements, low}; }
  BACKGAUGE_BOTH Element* lower() const { return data + low; }
  template <std::same_as<const Element> Readable>
  operator Operand<Readable>() const {
    return {data, low};
  }
};

// Whether operands of this type must be split.
template <class Storage>
bool operands_are_split() {
  return std::is_same_v<Storage, float> && settings().floats == FloatProducts::kThreeTf32;
}

template <class Storage>
Operand<Storage> take_operand(Workspace& workspace, std::initializer_list<std::int64_t> shape) {
  Storage* const data = workspace.take<Storage>(shape);
  if (!operands_are_split<Storage>()) return {data};
  return {data, workspace.take<Storage>(shape) - data};
}

// Like store(), to an operand.
template <int count, class Storage>
BACKGAUGE_BOTH void store_operand(const Compute<Storage> (&from)[count], const Operand<Storage>& to) {
  if constexpr (std::is_same_v<Storage, float>) {
    if (to.low != 0) {
      float high[count], low[count];
      BACKGAUGE_UNROLL
      for (int k = 0; k < count; ++k) {
        high[k] = to_tf32(from[k]);
        low[k] = to_tf32(from[k] - high[k]);
      }
      store(high, to.data);
      return store(low, to.lower());
    }
  }
  store(from, to.data);
}

// One product, or three for split operands, the smaller ones first. Addresses: Matrices or IndirectMatrices.
template <class Addresses, class Left, class Right, class To>
void multiply_parts(Queue& queue, Product product, bool split, Left a, Left a_low, Right b, Right b_low, To result) {
  if (split) {
    queue.multiply(product, Addresses{a_low, b, result});
    product.added = true;
    queue.multiply(product, Addresses{a, b_low, result});
  }
  queue.multiply(product, Addresses{a, b, result});
}

// product: its sizes. The types and the alignment are those of the matrices.
template <class Storage, class Result>
void multiply(Queue& queue, Product product, const Operand<const Storage>& a, const Operand<const Storage>& b,
              Result* result) {
  product.operands = kType<Storage>;
  product.result = kType<Result>;
  product.aligned = is_aligned(0, sizeof(Storage), a.data, b.data, result);
  multiply_parts<Matrices>(queue, product, a.low != 0, a.data, a.lower(), b.data, b.lower(), result);
}

}  // namespace backgauge::cuda
