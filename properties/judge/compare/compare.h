// SPDX-License-Identifier: Apache-2.0
// Compares one output with what the oracle wants. The one place where an element passes.
//
//   want           allowed        got passes if
//   any            inf            it is not a NaN, or want is not finite; the element is not judged
//   NaN            else           it is a NaN
//   +-inf          else           it is the same infinity
//   finite         0              it equals want; a zero may have either sign
//   finite         else           |got - want| / allowed <= 1
// Where want + allowed is larger than the largest finite number of the dtype, +inf passes too; the same on the other
// side. An element that was never written is bad whatever it holds.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "properties/judge/compare/verdict.h"
#include "reference/oracle.h"

namespace backgauge {

// On input as many values in `got` as there are elements, and as many flags in `unwritten` or none at all. A bound must
// be >= 0: see faulty_bound().
TensorReport compare(const Wanted& wanted, std::span<const double> got, std::span<const std::uint8_t> unwritten,
                     backgauge_dtype dtype, const Declared& declared);

// What is wrong with the bounds of an oracle, naming the element: a NaN or negative bound on a finite value, or a
// number of elements that is not that of the shape. "" if nothing.
std::string faulty_bound(const Wanted& wanted);

// "[1,0]": the place of a flat index; "" for a scalar.
std::string index_text(const Shape& shape, std::int64_t flat);
std::vector<std::int64_t> index_of(const Shape& shape, std::int64_t flat);

}  // namespace backgauge
