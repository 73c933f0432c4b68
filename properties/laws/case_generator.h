// SPDX-License-Identifier: Apache-2.0
// Cases of draw_case() for RapidCheck. A failing case shrinks to a case line in which every word that is not the
// simplest one is needed for the failure.
#pragma once

#include <rapidcheck.h>

#include <iosfwd>

#include "properties/case/line/simpler.h"
#include "properties/laws/law.h"

namespace backgauge {

// Legal cases of an op that `about` does not change.
rc::Gen<Case> cases(backgauge_op op, Sizes sizes, Case (*about)(Case));

// For RapidCheck: a case is shown as its line.
void showValue(const Case& c, std::ostream& out);

}  // namespace backgauge
