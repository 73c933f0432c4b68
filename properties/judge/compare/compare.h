// SPDX-License-Identifier: Apache-2.0
// Compares one output with the values of the oracle. This is the only place where an element passes.
//
//   want           allowed        got passes if
//   any            inf            it is not a NaN, or want is not finite. The element is not judged
//   NaN            else           it is a NaN
//   +-inf          else           it is the same infinity
//   finite         0              it equals want; a zero may have either sign
//   finite         else           |got - want| / allowed <= 1
// If want + allowed is larger than the largest finite number of the dtype, +inf passes too; likewise -inf. An element
// that was never written is bad, whatever its value.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "properties/judge/compare/verdict.h"
#include "reference/oracle.h"

namespace backgauge {

// On input one value in `got` per element, and one flag per element in `unwritten`, or none at all. All bounds must be
// >= 0: see faulty_bound().
TensorReport compare(const Wanted& wanted, std::span<const double> got, std::span<const std::uint8_t> unwritten,
                     backgauge_dtype dtype, const Declared& declared);

// Whether agreement within a bound proves anything. The resolution of an output is the median of |want| / allowed over
// its elements, where a want of 0 and a bound of inf count as 0. Elements that the contract determines (bound 0, or a
// value that is not finite) are left out: agreement there is complete. An output whose resolution is below the least
// useful one is vacuous: mostly zero, or with bounds too wide to notice a wrong term.
struct Resolution {
  double median = 0;  // 0 if every element is determined, or there is none
  bool all_determined = true;
};
Resolution resolution(const Wanted& wanted);

// The resolution that an implementation with these declarations must be judged with.
double least_resolution(backgauge_dtype dtype, const Declared& declared);

// Whether an output of this resolution is vacuous for such an implementation.
bool is_vacuous(const Resolution& found, backgauge_dtype dtype, const Declared& declared);

// What is wrong with the bounds of the oracle: a NaN or negative bound of a finite value, with the element, or a number
// of elements that does not match the shape. "" if nothing.
std::string faulty_bound(const Wanted& wanted);

// The indices of an element as text, "[1,0]"; "" for a scalar.
std::string index_text(const Shape& shape, std::int64_t flat);
std::vector<std::int64_t> index_of(const Shape& shape, std::int64_t flat);

}  // namespace backgauge
