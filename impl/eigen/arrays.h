// SPDX-License-Identifier: Apache-2.0
// The tensors of a call as arrays and matrices of Eigen.
//
// Units compiled for different instruction sets must not share Eigen's inline functions, of which the linker keeps one
// each: every set has a namespace Eigen of its own.
#pragma once

#define BACKGAUGE_JOIN_(a, b) a##b
#define BACKGAUGE_JOIN(a, b) BACKGAUGE_JOIN_(a, b)
#define Eigen BACKGAUGE_JOIN(Eigen_, BACKGAUGE_EIGEN_SET)
#include <Eigen/Core>

#include "reference/contract/narrow.h"

namespace backgauge::eigen::BACKGAUGE_EIGEN_SET {

using Index = Eigen::Index;

// What is stored, as Eigen computes in it: half is rounded after every operation, as TensorFlow does on a CPU.
template <class Storage>
struct ComputedAs {
  using Type = float;
};
template <>
struct ComputedAs<Half> {
  using Type = Eigen::half;
};

template <class Scalar>
using Array = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using Row = Eigen::Array<Scalar, 1, Eigen::Dynamic>;

template <class Storage>
using Scalar = typename ComputedAs<Storage>::Type;

// Views: [rows, columns], dense.
template <class Storage>
auto array(Storage* data, Index rows, Index columns) {
  return Eigen::Map<Array<Scalar<Storage>>>(reinterpret_cast<Scalar<Storage>*>(data), rows, columns);
}
template <class Storage>
auto array(const Storage* data, Index rows, Index columns) {
  return Eigen::Map<const Array<Scalar<Storage>>>(reinterpret_cast<const Scalar<Storage>*>(data), rows, columns);
}
template <class Storage>
auto row(Storage* data, Index columns) {
  return Eigen::Map<Row<Scalar<Storage>>>(reinterpret_cast<Scalar<Storage>*>(data), columns);
}
template <class Storage>
auto row(const Storage* data, Index columns) {
  return Eigen::Map<const Row<Scalar<Storage>>>(reinterpret_cast<const Scalar<Storage>*>(data), columns);
}

// sums[j] += terms[k, j] over all rows k, in their order. (Eigen 3.4 has no colwise().sum() of half.)
template <class Sums, class Terms>
void add_rows(Sums&& sums, const Terms& terms) {
  for (Index k = 0; k < terms.rows(); ++k) sums += terms.row(k);
}

}  // namespace backgauge::eigen::BACKGAUGE_EIGEN_SET
