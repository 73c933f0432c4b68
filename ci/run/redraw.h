// SPDX-License-Identifier: Apache-2.0
// Generated cases whose values prove nothing are drawn again. verify and `list --cases` choose the new values here, so
// that they name the same lines.
#pragma once

#include "properties/case/case.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// Saturated and chaotic draws happen, and of a few saturated GRU units two draws of three prove nothing; nine in a row
// mean that this class of data proves nothing of this shape: where half rounds everything the rigorous bound, which is
// all that holds of special values, is wider than most gradients of tiny values, and than cancelling sums beside a NaN.
inline constexpr int kMostRedrawsOfClass = 8;

// Then values are stratified, of which more is known (bounds.md 6): one of 41 such draws was seen to prove nothing. In
// half, where sums are long, they are sparse instead.
inline constexpr int kMostRedraws = kMostRedrawsOfClass + 4;

// Whether a case of a tier may get other values. A golden vector has none, and a line with a checksum means its own.
bool may_be_redrawn(const Case& c);

// The same case with the next values. `redraws`: how often it is drawn again, this time included.
Case redrawn(Case c, int redraws);

// The line that a tier judges in place of a planned one, for implementations that declare this, with the checksum of
// its inputs: drawn again as long as even right outputs would be MISTRUSTED. Where dropout masks decide what is right
// they are those of draw_dropout_masks(); an implementation that has others may be judged on other values. Throws
// std::runtime_error where the inputs cannot be made.
Case judged_in_place_of(Case planned, const Declared& declared, int most_redraws = kMostRedraws);

}  // namespace backgauge::cli
