// SPDX-License-Identifier: Apache-2.0
// A case that an implementation claims, for checks that need one of a certain size.
#pragma once

#include "properties/case/line/case.h"
#include "reference/contract/claims.h"

namespace backgauge {

struct UsualSize {
  std::int64_t steps, batch, width;  // width: of inputs and units
};

// Of the most usual dtype and settings that are claimed.
Case usual_case(const Claims& claims, const UsualSize& size);

}  // namespace backgauge
