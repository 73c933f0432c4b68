// SPDX-License-Identifier: Apache-2.0
// Checks what prepare of an implementation asked for, before any of it is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge {

// Both are "" if the plan can be met.
struct PlanFault {
  std::string violation;  // breaks the contract, or is more than any machine has: a formula has overflowed
  std::string broken;     // more than `memory_limit`, or than is available
};

// `memory_limit`: bytes for workspace and reserve_space together; 0: as much as the machine has.
PlanFault plan_fault(const backgauge_plan& plan, bool has_reserve_space, std::int32_t dtype,
                     std::uint64_t memory_limit);

}  // namespace backgauge
