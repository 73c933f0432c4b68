// SPDX-License-Identifier: Apache-2.0
// What a wrong output looks like: which simple fault would have made exactly these values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/oracle.h"

namespace backgauge {

// On input a problem, all its wanted outputs, the number of the wrong one and what was computed instead. On output
// "error equals -1 times the di * wci term: missing? (to 6 digits)", if that accounts for every element within three
// times its bound (its own, and that of what is added, at most twice), and some element is off by a thousand times
// that. Two such explanations are told both; none, or more than two, are "": a wrong hint costs more than none.
std::string hint(const Problem& problem, const std::vector<Wanted>& wanted, std::size_t which,
                 std::span<const double> got);

// How far other numbers account for a wrong output.
struct Explained {
  bool met = false;         // every element, within three times its bound
  bool conclusive = false;  // some element is off by a thousand times that
  int digits = 0;           // of the error, 16 at most; where met
};
Explained explain(const Wanted& wanted, std::span<const double> got, std::span<const double> values);

}  // namespace backgauge
