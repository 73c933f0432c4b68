// SPDX-License-Identifier: Apache-2.0
// Finds the simple error that gives exactly the values of a wrong output.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/oracle.h"

namespace backgauge {

// On input a problem, all its wanted outputs, the index of the wrong one, and the values that were computed. On output
// for example "it is divided by the batch size: a mean instead of a sum? (to 6 digits)": an error of the output as a
// whole or of a part of it (wrong_parts.h). An explanation must give every element within three times its bound (its
// own bound, plus at most twice that of an added term), while the error of some element is a thousand times larger. If
// two explanations fit, both are reported. If none or more than two fit, the result is "", because a wrong hint is
// worse than none.
std::string hint(const Problem& problem, const std::vector<Wanted>& wanted, std::size_t which,
                 std::span<const double> got);

// How well other values explain a wrong output.
struct Explained {
  bool met = false;         // every element agrees within three times its bound
  bool conclusive = false;  // the error of some element is a thousand times larger than that
  int digits = 0;           // if met: digits of the error that agree, at most kMostDigits
};
inline constexpr int kMostDigits = 16;
Explained explain(const Wanted& wanted, std::span<const double> got, std::span<const double> values);

// Explanations that fit, as the text of a hint.
class Matches {
 public:
  void add(const std::string& text, const Explained& explained);
  std::string text() const;  // "" if there are none, or more than two

 private:
  std::string text_;
  int count_ = 0;
};

}  // namespace backgauge
