// SPDX-License-Identifier: Apache-2.0
// Generated cases whose values prove nothing are drawn again. verify and `list --cases` choose the new values here, so
// that they name the same lines.
#pragma once

#include "properties/case/case.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// Saturated and chaotic draws happen, and of a few saturated GRU units two draws of three prove nothing; nine in a row
// mean that the shape itself does not.
inline constexpr int kMostRedraws = 8;

// Whether a case of a tier may get other values. A golden vector has none, and a line with a checksum means its own.
bool may_be_redrawn(const Case& c);

// The same case with the next values.
Case redrawn(Case c);

// The line that a tier judges in place of a planned one, for implementations that declare this, with the checksum of
// its inputs: drawn again as long as even right outputs would be MISTRUSTED. Where dropout masks decide what is right
// they are those of draw_dropout_masks(); an implementation that has others may be judged on other values. Throws
// std::runtime_error where the inputs cannot be made.
Case judged_in_place_of(Case planned, const Declared& declared, int most_redraws = kMostRedraws);

}  // namespace backgauge::cli
