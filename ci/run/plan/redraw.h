// SPDX-License-Identifier: Apache-2.0
// Generated cases whose values prove nothing are redrawn. verify and `list --cases` choose the new values here, so that
// they print the same lines.
#pragma once

#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/verdict.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// Some draws are saturated or chaotic; with a few saturated GRU units two draws of three prove nothing. Nine in a row
// mean that this data profile cannot prove anything for this shape. This happens if every operation rounds to half:
// only the rigorous bound applies to special values, and it is wider than most gradients of tiny values and than
// cancelling sums.
inline constexpr int kMostRedrawsOfClass = 8;

// Then values are stratified, for which a narrower bound holds (bounds.md 6): one of 41 such draws proved nothing. In
// half with long sums they are sparse instead.
inline constexpr int kMostRedraws = kMostRedrawsOfClass + 4;

// Whether a case of a tier may get other values. A golden vector may not, nor a line with a checksum.
bool may_be_redrawn(const Case& c);

// The same case with the next values. `redraws`: the number of redraws, including this one.
Case redrawn(Case c, int redraws);

// The verdict on correct outputs of a case, for an implementation with these declared properties. If they depend on
// dropout masks, those of draw_dropout_masks() for `c` are used.
Verdict verdict_on_correct_outputs(const Case& c, Filled filled, const Declared& declared);

// The same for a problem that has its masks.
Verdict verdict_on_correct_outputs(ExpectedOutputs& expected, const std::vector<Wanted>& correct,
                                   const Problem& problem, const Declared& declared);

// The line that a tier judges instead of a planned one, for implementations with these declared properties, with the
// checksum of its inputs: redrawn as long as even correct outputs would be MISTRUSTED. If the expected outputs depend
// on dropout masks, those of draw_dropout_masks() are used; an implementation with other masks may be judged on other
// values. Throws std::runtime_error if the inputs cannot be made.
Case judged_in_place_of(Case planned, const Declared& declared, int most_redraws = kMostRedraws);

}  // namespace backgauge::cli
