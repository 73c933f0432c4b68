// SPDX-License-Identifier: Apache-2.0
// The cases on which saboteurs are judged, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge::cli {

// The cases of tier ci. The first `small` have at most saboteurs::kFewMultiplications, for hundreds of implementations
// are judged on them. Each kind of case is spread over the whole tier, which begins with one of each: a kind has one
// dtype, and its largest size lies between two powers of two.
std::vector<Case> proof_cases(backgauge_op op, std::uint64_t seed, std::size_t small);

}  // namespace backgauge::cli
