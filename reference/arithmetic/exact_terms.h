// SPDX-License-Identifier: Apache-2.0
// Sums that are exact in every order, because all their terms are multiples of one power of two. bounds.md 3.7
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "reference/arithmetic/plane.h"
#include "reference/arithmetic/roundings.h"

namespace backgauge {

// What exact elements of a matrix are sums of. No terms: they are all 0.
struct ExactTerms {
  double grid = std::numeric_limits<double>::infinity();  // a power of two; every term is a multiple of it
  double size = 0;                                        // of the terms of an element together, at most

  ExactTerms with(const ExactTerms& other) const { return {std::min(grid, other.grid), size + other.size}; }
  ExactTerms beside(const ExactTerms& other) const { return {std::min(grid, other.grid), std::max(size, other.size)}; }
};

// The largest power of two of which a finite x != 0 is a multiple.
inline double lowest_bit(double x) {
  constexpr std::uint64_t kHidden = 1ull << 52;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(x), &exponent);  // in [0.5, 1): its last bit is 2^-53
  const auto bits = (std::bit_cast<std::uint64_t>(fraction) & (kHidden - 1)) | kHidden;
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(bits));
}

// Of numbers that are read from memory; nullopt if one is not finite.
template <class V>
std::optional<ExactTerms> terms_of_values(const Plane<V>& values) {
  ExactTerms out;
  for (Index k = 0; k < values.size(); ++k) {
    const double x = static_cast<double>(values.data()[k]);
    if (!std::isfinite(x)) return std::nullopt;
    if (x != 0) out = out.beside({lowest_bit(x), std::abs(x)});
  }
  return out;
}

// Whether every sum of such terms is exact. A partial sum is a multiple of the grid; operands in pieces make it larger
// than `size`, but by less than a factor of 2. It has a float of `unit_roundoff` u if it is at most 1/u of the grid.
inline std::optional<ExactTerms> if_exact(const RoundingModel& model, const ExactTerms& terms) {
  const double most = 2 * terms.size;
  const bool fits =
      most * model.unit_roundoff <= terms.grid && terms.grid >= model.least_normal && most <= model.largest;
  return fits ? std::optional(terms) : std::nullopt;
}

}  // namespace backgauge
