// SPDX-License-Identifier: Apache-2.0
// The operations that the equations are made of, and what they have in common in all arithmetics.
//
// An arithmetic is an object with a Matrix type and these operations; the equations are written over it, once. Each
// operation is one step of the derivation, whatever order an implementation gives it inside: `sum` and `product` of
// many terms, `matmul` a sum of products, `sigmoid_slope` any form of s(1-s). All matrices are dense; elementwise
// operations take equal shapes. Sums over the steps of a sequence: over_steps.h.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <vector>

#include "reference/arithmetic/plane.h"

namespace backgauge {

// clang-format off
template <class A, class M = typename A::Matrix>
concept Arithmetic = requires(const A& a, const M& x, const M& y, const M& z, const double* values,
                              const std::uint8_t* keep, double number, Index n, const std::vector<M>& terms,
                              const std::vector<const M*>& parts) {
  requires requires { { x.rows() } -> std::same_as<Index>; { x.cols() } -> std::same_as<Index>; };

  { a.input(values, n, n) } -> std::same_as<M>;         // [rows, cols] as they are in a tensor
  { a.recomputable(values, n, n) } -> std::same_as<M>;  // the same of an activation that an implementation may compute
                                                        // again instead of reading it
  { a.zeros(n, n) } -> std::same_as<M>;
  { a.ones(n, n) } -> std::same_as<M>;
  { a.dropout_mask(keep, number, n, n) } -> std::same_as<M>;  // keep[rows * cols] as 0 or 1/(1-dropout): a factor, or
                                                              // a choice between 0 and the other factors

  { a.sum(x, y, z) } -> std::same_as<M>;  // of one term or more
  { a.sum(terms) } -> std::same_as<M>;
  { a.product(x, y, z) } -> std::same_as<M>;  // of one factor or more
  { a.negative(x) } -> std::same_as<M>;
  { a.difference(x, y) } -> std::same_as<M>;  // x - y as a factor of a product g (x - y), which an implementation may
                                              // write as g x - g y

  { a.matmul(x, y) } -> std::same_as<M>;         // [m, n] x [n, p]
  { a.add_matmul(z, x, y) } -> std::same_as<M>;  // z + x y, where x y may pass from step to step through storage
  { a.column_sums(x) } -> std::same_as<M>;       // [n, p] -> [1, p]

  { a.sigmoid(x) } -> std::same_as<M>;
  { a.tanh(x) } -> std::same_as<M>;
  { a.relu(x) } -> std::same_as<M>;
  { a.sigmoid_slope(x) } -> std::same_as<M>;      // s(1-s) and 1-t^2: differences like the one above,
  { a.tanh_slope(x) } -> std::same_as<M>;         // g s - g s s and (g + g t)(1-t)
  { a.where_positive(x, y) } -> std::same_as<M>;  // y where relu of x has the slope 1, 0 where it has the slope 0
  { a.blend(z, x, y) } -> std::same_as<M>;        // (1-z) y + z x
  { a.clip(x, number) } -> std::same_as<M>;       // to [-limit, limit]; not at all if limit <= 0
  { a.carried(x) } -> std::same_as<M>;            // from one step to the next
  { a.saved(x) } -> std::same_as<M>;              // from one pass or layer to the next
  { a.rounds_saved() } -> std::same_as<bool>;     // whether it is rounded

  { a.transpose(x) } -> std::same_as<M>;
  { a.rows(x, n, n) } -> std::same_as<M>;     // `count` of them from `begin` on
  { a.columns(x, n, n) } -> std::same_as<M>;
  { a.repeat_row(x, n) } -> std::same_as<M>;  // [1, n] -> [count, n]
  { a.beside(parts) } -> std::same_as<M>;     // side by side: their columns
  { a.below(parts) } -> std::same_as<M>;      // one below the other: their rows
};
// clang-format on

// Sums and products of any number of operands. Self has, private with this as a friend or public,
//   M sum_of(std::span<const M* const> terms) const
//   M product_of(std::span<const M* const> factors) const
template <class Self, class M>
class SumsAndProducts {
 public:
  template <std::same_as<M>... More>
  M sum(const M& first, const More&... rest) const {
    return self().sum_of(std::array<const M*, 1 + sizeof...(rest)>{&first, &rest...});
  }
  M sum(const std::vector<M>& terms) const {
    std::vector<const M*> pointers;
    for (const M& term : terms) pointers.push_back(&term);
    return sum(pointers);
  }
  M sum(const std::vector<const M*>& terms) const { return self().sum_of(terms); }
  template <std::same_as<M>... More>
  M product(const M& first, const More&... rest) const {
    return self().product_of(std::array<const M*, 1 + sizeof...(rest)>{&first, &rest...});
  }
  M product(const std::vector<const M*>& factors) const { return self().product_of(factors); }

 protected:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

// Also the operations that round nothing, of matrices made of planes. Self has
//   M exactly(Plane<V> values) const                               without an error
//   M moved(const M& x, auto move) const                           move(plane) for each plane of x
//   M joined<along>(const std::vector<const M*>& parts) const      join<along> for each plane
template <class Self, class M, class V = double>
class PlaneArithmetic : public SumsAndProducts<Self, M> {
 public:
  M input(const double* values, Index rows, Index cols) const {
    return self().exactly(Eigen::Map<const Plane<double>>(values, rows, cols).template cast<V>());
  }
  M zeros(Index rows, Index cols) const { return self().exactly(Plane<V>::Zero(rows, cols)); }
  M ones(Index rows, Index cols) const { return self().exactly(Plane<V>::Ones(rows, cols)); }

  M transpose(const M& x) const {
    return self().moved(x, [](const auto& plane) { return plane.transpose(); });
  }
  M rows(const M& x, Index begin, Index count) const {
    return self().moved(x, [=](const auto& plane) { return slice_of<Along::kRows>(plane, begin, count); });
  }
  M columns(const M& x, Index begin, Index count) const {
    return self().moved(x, [=](const auto& plane) { return slice_of<Along::kColumns>(plane, begin, count); });
  }
  M repeat_row(const M& row, Index count) const {
    return self().moved(row, [=](const auto& plane) { return plane.replicate(count, 1); });
  }
  M beside(const std::vector<const M*>& parts) const { return self().template joined<Along::kColumns>(parts); }
  M below(const std::vector<const M*>& parts) const { return self().template joined<Along::kRows>(parts); }

 protected:
  using SumsAndProducts<Self, M>::self;
};

}  // namespace backgauge
